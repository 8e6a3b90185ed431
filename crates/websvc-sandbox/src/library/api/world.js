// Execution contexts: where functions run in a frame.

// Messages of the protocol for a context that a navigation has destroyed.
const DESTROYED = /Execution context was destroyed|Cannot find context|Inspected target navigated|Cannot find object|Could not find object/;

function isDestroyed(error) {
  return DESTROYED.test(error.message);
}

class World {
  constructor(frame, id, isUtility) {
    this.frame = frame;
    this.id = id;
    this.isUtility = isUtility;
    this.library = null;
  }

  get session() { return this.frame._session; }

  // Returns the object with the functions of the page library.
  async _library() {
    if (!this.library) {
      const keep = this.isUtility ? 'globalThis.pageLibrary ??= ' : '';
      this.library = this._evaluateRaw(`${keep}${pageSource}`, false).then(object => object.objectId);
    }
    return this.library;
  }

  _evaluateRaw(expression, returnByValue) {
    return this._send('Runtime.evaluate', {
      expression, contextId: this.id, returnByValue, awaitPromise: true, userGesture: true,
    });
  }

  async _send(method, params) {
    let response;
    try {
      response = await this.session.send(method, params);
    } catch (error) {
      if (!isDestroyed(error)) throw error;
      this.frame._forget(this);
      throw new Error('Execution context was destroyed, most likely because of a navigation');
    }
    if (response.exceptionDetails) throw pageError(response.exceptionDetails);
    return response.result;
  }

  async _call(source, values, returnByValue, objectId) {
    const target = objectId ? { objectId } : { executionContextId: this.id };
    return this._send('Runtime.callFunctionOn', {
      functionDeclaration: source, arguments: values, returnByValue, awaitPromise: true, userGesture: true, ...target,
    });
  }

  // Calls a function of the page library. `root` is a handle of an element or null.
  async callLibrary(method, root, values, returnByValue = true) {
    const objectId = await this._library();
    const first = root ? { objectId: root } : { value: null };
    const rest = values.map(value => ({ value }));
    const source = 'function (method, ...values) { return this[method](...values); }';
    const result = await this._call(source, [{ value: method }, first, ...rest], returnByValue, objectId);
    return returnByValue ? result.value : result;
  }

  // Evaluates a function or an expression of a program. Returns its value, or a handle.
  async evaluate(body, argument, asHandle, isFunction = typeof body === 'function') {
    const handles = [];
    const packed = packValue(argument, item => {
      if (!(item instanceof JSHandle)) return -1;
      if (item._isDisposed) throw new Error('JSHandle is disposed!');
      if (item._world !== this) {
        throw new Error('JSHandles can be evaluated only in the context they were created!');
      }
      handles.push(item._remote());
      return handles.length - 1;
    });
    const result = isFunction ? await this._evaluateFunction(typeof body === 'function' ? functionSource(body) : body, packed, handles, asHandle)
      : await this._evaluateText(String(body), asHandle);
    return asHandle ? makeHandle(this, result) : unpackValue(result);
  }

  async _evaluateFunction(source, packed, handles, asHandle) {
    const pack = asHandle ? '' : `.then(value => { const packValue = ${PACK_SOURCE}; return packValue(value); })`;
    const text = `function (packed, ...handles) {
      const unpackValue = ${UNPACK_SOURCE};
      const call = value => (${source})(value);
      return new Promise(resolve => resolve(call(unpackValue(packed, handles))))${pack};
    }`;
    const result = await this._call(text, [{ value: packed }, ...handles], !asHandle);
    return asHandle ? result : result.value;
  }

  async _evaluateText(expression, asHandle) {
    const result = await this._evaluateRaw(expression, false);
    return asHandle ? result : this._packRemote(result);
  }

  async _packRemote(remote) {
    if (!remote.objectId && remote.unserializableValue === undefined) {
      return remote.type === 'undefined' ? { v: 'undefined' } : remote.value === null ? { v: 'null' } : remote.value;
    }
    const value = remote.objectId ? { objectId: remote.objectId }
      : { unserializableValue: remote.unserializableValue };
    const source = `function (value) { const packValue = ${PACK_SOURCE}; return packValue(value); }`;
    const result = await this._call(source, [value], true);
    return result.value;
  }
}

// Returns the error that a page threw.
function pageError({ exception, text }) {
  if (!exception) return new Error(text);
  if (exception.subtype === 'error' || exception.className && /Error$/.test(exception.className)) {
    const description = exception.description || text;
    const many = /^Error: many:(\{.*\})/.exec(description);
    if (many) return new ManyError(JSON.parse(many[1]));
    return new Error(description);
  }
  const value = exception.value !== undefined ? exception.value : exception.description;
  return new Error(typeof value === 'string' ? value : String(exception.unserializableValue ?? JSON.stringify(value)));
}

// Several elements where one is wanted.
class ManyError extends Error {
  constructor(found) {
    super('many elements');
    this.found = found;
  }
}
