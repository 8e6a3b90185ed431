//! Conversions of color spaces to sRGB (CSS Color 4, section 10 and its sample code). Values outside sRGB are clipped by
//! the caller.

type Triple = [f64; 3];
type Matrix = [Triple; 3];

const XYZ_TO_LINEAR: Matrix = [
    [3.240_969_941_904_521, -1.537_383_177_570_093_5, -0.498_610_760_293_003_3],
    [-0.969_243_636_280_879_8, 1.875_967_501_507_720_6, 0.041_555_057_407_175_61],
    [0.055_630_079_696_993_61, -0.203_976_958_888_976_57, 1.056_971_514_242_878_6],
];
const D50_TO_D65: Matrix = [
    [0.955_473_421_488_075, -0.023_098_454_948_764_71, 0.063_259_243_200_570_72],
    [-0.028_369_709_333_863_7, 1.009_995_398_081_304_1, 0.021_041_441_191_917_323],
    [0.012_314_014_864_481_998, -0.020_507_649_298_898_964, 1.330_365_926_242_124],
];
const P3_TO_XYZ: Matrix = [
    [0.486_570_948_648_216_2, 0.265_667_693_169_093_06, 0.198_217_285_234_362_5],
    [0.228_974_564_069_748_8, 0.691_738_521_836_506_4, 0.079_286_914_093_745],
    [0.0, 0.045_113_381_858_902_64, 1.043_944_368_900_976],
];
const A98_TO_XYZ: Matrix = [
    [0.576_669_042_910_131_3, 0.185_558_237_906_546_3, 0.188_228_646_234_994_7],
    [0.297_344_975_250_535_96, 0.627_363_566_255_466_1, 0.075_291_458_493_997_88],
    [0.027_031_361_386_412_34, 0.070_688_852_535_827_23, 0.991_337_536_837_639_3],
];
const PROPHOTO_TO_XYZ_D50: Matrix = [
    [0.797_766_644_900_645_5, 0.135_181_297_406_051_6, 0.031_347_734_127_921_38],
    [0.288_074_821_947_781_9, 0.711_835_234_241_873_4, 0.000_089_943_689_820_1],
    [0.0, 0.0, 0.825_104_602_511_046_7],
];
const REC2020_TO_XYZ: Matrix = [
    [0.636_958_048_301_291, 0.144_616_903_586_208_32, 0.168_880_975_164_172_04],
    [0.262_700_212_011_267_04, 0.677_998_071_518_871_1, 0.059_301_716_469_861_96],
    [0.0, 0.028_072_693_049_087_43, 1.060_985_057_710_790_8],
];

fn multiply(matrix: &Matrix, [x, y, z]: Triple) -> Triple {
    matrix.map(|[a, b, c]| a * x + b * y + c * z)
}

/// Converts gamma-encoded sRGB to linear light.
pub(super) fn linear(srgb: Triple) -> Triple {
    srgb.map(|value| if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) })
}

fn encoded(linear: Triple) -> Triple {
    linear.map(|value| {
        if value <= 0.003_130_8 { value * 12.92 } else { 1.055 * value.max(0.0).powf(1.0 / 2.4) - 0.055 }
    })
}

/// Returns rectangular coordinates of a lightness, a chroma and a hue in degrees.
pub(super) fn from_polar(lightness: f64, chroma: f64, hue: f64) -> Triple {
    let angle = hue.to_radians();
    [lightness, chroma * angle.cos(), chroma * angle.sin()]
}

pub(super) fn hsl_to_srgb(hue: f64, saturation: f64, lightness: f64) -> Triple {
    let hue = hue.rem_euclid(360.0) / 30.0;
    let amplitude = saturation * lightness.min(1.0 - lightness);
    [0.0, 8.0, 4.0].map(|offset: f64| {
        let position = (offset + hue).rem_euclid(12.0);
        lightness - amplitude * (position - 3.0).min(9.0 - position).clamp(-1.0, 1.0)
    })
}

pub(super) fn hwb_to_srgb(hue: f64, white: f64, black: f64) -> Triple {
    if white + black >= 1.0 {
        return [white / (white + black); 3];
    }
    hsl_to_srgb(hue, 1.0, 0.5).map(|channel| channel * (1.0 - white - black) + white)
}

pub(super) fn lab_to_srgb([lightness, a, b]: Triple) -> Triple {
    const KAPPA: f64 = 24_389.0 / 27.0;
    const EPSILON: f64 = 216.0 / 24_389.0;
    let y = (lightness + 16.0) / 116.0;
    let (x, z) = (y + a / 500.0, y - b / 200.0);
    let cube = |value: f64| {
        let cubed = value.powi(3);
        if cubed > EPSILON { cubed } else { (116.0 * value - 16.0) / KAPPA }
    };
    let y = if lightness > KAPPA * EPSILON { y.powi(3) } else { lightness / KAPPA };
    let d50 = [cube(x) * 0.964_295_676_429_567_6, y, cube(z) * 0.825_104_602_510_460_4];
    encoded(multiply(&XYZ_TO_LINEAR, multiply(&D50_TO_D65, d50)))
}

pub(super) fn oklab_to_srgb([lightness, a, b]: Triple) -> Triple {
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548 * b).powi(3);
    encoded([
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s,
    ])
}

pub(super) fn srgb_to_oklab(srgb: Triple) -> Triple {
    let [red, green, blue] = linear(srgb);
    let l = (0.412_221_470_8 * red + 0.536_332_536_3 * green + 0.051_445_992_9 * blue).cbrt();
    let m = (0.211_903_498_2 * red + 0.680_699_545_1 * green + 0.107_396_956_6 * blue).cbrt();
    let s = (0.088_302_461_9 * red + 0.281_718_837_6 * green + 0.629_978_700_5 * blue).cbrt();
    [
        0.210_454_255_3 * l + 0.793_617_785 * m - 0.004_072_046_8 * s,
        1.977_998_495_1 * l - 2.428_592_205 * m + 0.450_593_709_9 * s,
        0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766 * s,
    ]
}

/// Converts a color of the function `color()`; `None` for an unknown space.
pub(super) fn space_to_srgb(space: &str, channels: Triple) -> Option<Triple> {
    let signed = |value: f64, exponent: f64| value.abs().powf(exponent).copysign(value);
    let from_xyz = |xyz: Triple| encoded(multiply(&XYZ_TO_LINEAR, xyz));
    Some(match space {
        "srgb" => channels,
        "srgb-linear" => encoded(channels),
        "display-p3" => from_xyz(multiply(&P3_TO_XYZ, linear(channels))),
        "a98-rgb" => from_xyz(multiply(&A98_TO_XYZ, channels.map(|value| signed(value, 563.0 / 256.0)))),
        "prophoto-rgb" => {
            let linear = channels
                .map(|value| if value.abs() <= 16.0 / 512.0 { value / 16.0 } else { signed(value, 1.8) });
            from_xyz(multiply(&D50_TO_D65, multiply(&PROPHOTO_TO_XYZ_D50, linear)))
        }
        "rec2020" => {
            let linear = channels.map(|value| {
                let (alpha, beta) = (1.099_296_826_809_44, 0.018_053_968_510_807);
                if value.abs() < beta * 4.5 {
                    value / 4.5
                } else {
                    signed((value.abs() + alpha - 1.0) / alpha, 1.0 / 0.45).copysign(value)
                }
            });
            from_xyz(multiply(&REC2020_TO_XYZ, linear))
        }
        "xyz" | "xyz-d65" => from_xyz(channels),
        "xyz-d50" => from_xyz(multiply(&D50_TO_D65, channels)),
        _ => return None,
    })
}
