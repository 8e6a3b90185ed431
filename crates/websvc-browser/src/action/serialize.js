// Serializes `this` like JSON.stringify, but uses text forms for values that JSON lacks, and does not throw. Returns
// {value, cyclic, cut}.
function () {
    const MAX_VALUES = 100000, MAX_DEPTH = 100, MAX_TEXT = 1000;
    const outer = [];
    let values = 0, cyclic = false, cut = false;
    const short = (text) => text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) + "…" : text;
    const isA = (value, name) => typeof globalThis[name] === "function" && value instanceof globalThis[name];

    // Returns the text form of an object, or null if it has none.
    const text = (value) => {
        if (isA(value, "Date")) return isNaN(value) ? "Invalid Date" : value.toISOString();
        if (isA(value, "Error") || isA(value, "DOMException") || isA(value, "RegExp")) return short(String(value));
        if (isA(value, "Promise")) return "[Promise]";
        if (isA(value, "Document")) return `[Document ${short(value.URL)}]`;
        if (isA(value, "Element")) return short(value.outerHTML);
        if (isA(value, "Node")) return short(value.textContent || value.nodeName);
        if (value.window === value) return `[Window ${short(value.location.href)}]`;
        return null;
    };

    // Returns the object or array whose members are serialized in place of the object.
    const parts = (value) => {
        if (isA(value, "Map")) return [...value];
        if (isA(value, "Set")) return [...value];
        if (isA(value, "ArrayBuffer")) return parts(new Uint8Array(value));
        if (isA(value, "NodeList") || isA(value, "HTMLCollection")) return head(value);
        if (ArrayBuffer.isView(value) && "length" in value) return head(value);
        return typeof value.toJSON === "function" ? value.toJSON() : value;
    };

    const head = (list) => {
        cut = cut || list.length > MAX_VALUES;
        return Array.prototype.slice.call(list, 0, MAX_VALUES);
    };

    const inner = (value) => {
        const form = parts(value);
        if (typeof form !== "object" || form === null) return visit(form);
        if (Array.isArray(form)) {
            const list = [];
            for (let at = 0; at < form.length && values < MAX_VALUES; at++) list.push(read(form, at) ?? null);
            cut = cut || list.length < form.length;
            return list;
        }
        const result = {};
        for (const name of Object.keys(form)) {
            if (values >= MAX_VALUES) {
                cut = true;
                break;
            }
            const value = read(form, name);
            // JSON omits undefined members, and writes null for undefined elements of a list.
            if (value === undefined) continue;
            Object.defineProperty(result, name, {value, enumerable: true, configurable: true});
        }
        return result;
    };

    const read = (form, name) => {
        let value;
        try {
            value = form[name];
        } catch (error) {
            return `[Threw ${short(String(error))}]`;
        }
        return visit(value);
    };

    const visit = (value) => {
        values += 1;
        switch (typeof value) {
            case "string":
            case "boolean":
                return value;
            case "number":
                return Number.isFinite(value) ? value : String(value);
            case "undefined":
                return undefined;
            case "bigint":
                return `${value}n`;
            case "symbol":
                return short(String(value));
            case "function":
                return `[Function ${short(String(value.name || "anonymous"))}]`;
        }
        if (value === null) return null;
        if (outer.includes(value)) {
            cyclic = true;
            return "[Circular]";
        }
        if (outer.length >= MAX_DEPTH || values > MAX_VALUES) {
            cut = true;
            return "[Truncated]";
        }
        outer.push(value);
        try {
            return text(value) ?? inner(value);
        } catch (error) {
            return `[Threw ${short(String(error))}]`;
        } finally {
            outer.pop();
        }
    };

    // In sloppy mode, `this` of a symbol is a wrapper object.
    const value = visit(typeof this === "object" && isA(this, "Symbol") ? this.valueOf() : this);
    return {value, cyclic, cut};
}
