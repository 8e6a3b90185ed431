//! Hints at the CSS framework and the component library: classes, the generator, and the names of scripts and style
//! sheets.

use websvc_extract::DeclaredBrand;
use websvc_types::branding::{BrandDesignSystem, CssFramework};

/// Returns the framework and the library of a page; `None` if it shows neither.
pub(crate) fn design_system(tokens: &[String], declared: &DeclaredBrand) -> Option<BrandDesignSystem> {
    let count = |test: &dyn Fn(&str) -> bool| tokens.iter().filter(|token| test(token)).count();
    let resource = |part: &str| declared.resources.iter().any(|url| url.to_ascii_lowercase().contains(part));
    let tailwind = count(&is_tailwind);
    let bootstrap = count(&is_bootstrap);
    let material =
        count(&|token| ["Mui", "mdc-", "mat-", "mdl-"].iter().any(|start| token.starts_with(start)));
    let chakra = count(&|token| token.starts_with("chakra-"));
    let framework = if chakra >= 2 {
        CssFramework::Chakra
    } else if material >= 2 {
        CssFramework::Material
    } else if bootstrap >= 3 || (bootstrap >= 1 && resource("bootstrap")) {
        CssFramework::Bootstrap
    } else if tailwind >= 6 || (tailwind >= 1 && resource("tailwind")) {
        CssFramework::Tailwind
    } else {
        CssFramework::Unknown
    };
    let component_library = library(tokens).or_else(|| generator(declared)).map(str::to_owned);
    if component_library.is_none() && framework == CssFramework::Unknown {
        return None;
    }
    let framework = if framework == CssFramework::Unknown { CssFramework::Custom } else { framework };
    Some(BrandDesignSystem { framework, component_library })
}

fn is_tailwind(token: &str) -> bool {
    let utility = token.rsplit(':').next().unwrap_or(token);
    let has_prefix = token.contains(':');
    let (name, value) = utility.split_once('-').unwrap_or((utility, ""));
    let is_number =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_shade = value.rsplit('-').next().is_some_and(|shade| {
        matches!(shade, "50" | "100" | "200" | "300" | "400" | "500" | "600" | "700" | "800" | "900" | "950")
            && value.contains('-')
    });
    match name {
        // Bootstrap has these up to 5.
        "p" | "px" | "py" | "m" | "mx" | "my" | "mt" | "mb" => {
            is_number(value) && (has_prefix || value.parse::<f64>().is_ok_and(|number| number > 5.0))
        }
        "w" | "h" | "gap" | "pt" | "pb" | "pl" | "pr" | "space" | "z" | "inset" => {
            is_number(value) && value.len() <= 3 && has_prefix
        }
        "bg" | "border" | "from" | "to" | "ring" => is_shade,
        "text" => {
            is_shade
                || matches!(value, "xs" | "sm" | "base" | "lg" | "xl" | "2xl" | "3xl" | "4xl" | "5xl" | "6xl")
        }
        "rounded" => matches!(value, "md" | "lg" | "xl" | "2xl" | "full"),
        "font" => matches!(value, "medium" | "semibold" | "bold" | "extrabold" | "sans" | "mono"),
        "items" | "justify" => matches!(value, "center" | "between" | "start" | "end"),
        "tracking" | "leading" => !value.is_empty(),
        "max" => value.starts_with("w-"),
        "flex" | "grid" | "hidden" | "block" => has_prefix,
        _ => false,
    }
}

fn is_bootstrap(token: &str) -> bool {
    const EXACT: [&str; 16] = [
        "container-fluid",
        "navbar-brand",
        "navbar-nav",
        "navbar-toggler",
        "nav-link",
        "btn-primary",
        "btn-secondary",
        "btn-outline-primary",
        "btn-outline-secondary",
        "form-control",
        "card-body",
        "jumbotron",
        "navbar-default",
        "navbar-header",
        "btn-default",
        "btn-lg",
    ];
    let is_column = ["col-sm-", "col-md-", "col-lg-", "col-xs-", "navbar-expand-"]
        .iter()
        .any(|start| token.starts_with(start));
    EXACT.contains(&token) || is_column
}

fn library(tokens: &[String]) -> Option<&'static str> {
    const LIBRARIES: [(&str, &str); 13] = [
        ("Mui", "mui"),
        ("mat-mdc-", "angular-material"),
        ("mdc-", "material-components"),
        ("chakra-", "chakra-ui"),
        ("ant-", "ant-design"),
        ("radix-", "radix-ui"),
        ("mantine-", "mantine"),
        ("v-application", "vuetify"),
        ("el-button", "element"),
        ("uk-", "uikit"),
        ("elementor-", "elementor"),
        ("wp-block-", "wordpress-blocks"),
        ("framer-", "framer"),
    ];
    let found = LIBRARIES
        .iter()
        .find(|(start, _)| tokens.iter().filter(|token| token.starts_with(start)).take(2).count() >= 2);
    found.map(|(_, name)| *name)
}

fn generator(declared: &DeclaredBrand) -> Option<&'static str> {
    let generator = declared.generator.as_deref()?.to_ascii_lowercase();
    let known = ["webflow", "framer", "wix", "squarespace", "elementor", "shopify"];
    known.into_iter().find(|name| generator.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framework_is_found_by_its_classes() {
        let check = |classes: &str, expected: Option<(CssFramework, Option<&str>)>| {
            let tokens: Vec<String> = classes.split(' ').map(str::to_owned).collect();
            let found = design_system(&tokens, &DeclaredBrand::default());
            let found = found.as_ref().map(|found| (found.framework, found.component_library.as_deref()));
            assert_eq!(found, expected, "{classes}");
        };
        check(
            "navbar navbar-expand-lg navbar-brand btn btn-primary col-md-6",
            Some((CssFramework::Bootstrap, None)),
        );
        check(
            "flex items-center justify-between px-6 py-8 md:flex text-slate-900 bg-indigo-600 rounded-lg font-semibold",
            Some((CssFramework::Tailwind, None)),
        );
        check("MuiButton-root MuiAppBar-root css-1x", Some((CssFramework::Material, Some("mui"))));
        check("chakra-button chakra-link", Some((CssFramework::Chakra, Some("chakra-ui"))));
        check(
            "wp-block-button wp-block-cover site-title",
            Some((CssFramework::Custom, Some("wordpress-blocks"))),
        );
        check("header hero nav-item button", None);
    }
}
