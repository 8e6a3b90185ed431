// The methods whose errors name them, and the objects that reject unknown names.

function asyncMethods(type) {
  return Object.getOwnPropertyNames(type.prototype).filter(name => {
    const { value } = Object.getOwnPropertyDescriptor(type.prototype, name);
    return typeof value === 'function' && !name.startsWith('_')
      && Object.prototype.toString.call(value) === '[object AsyncFunction]';
  });
}

const EXPOSED = [
  [Page, 'page'], [Frame, 'frame'], [Locator, 'locator'], [ElementHandle, 'elementHandle'], [JSHandle, 'jsHandle'],
  [BrowserContext, 'browserContext'], [Browser, 'browser'], [Keyboard, 'keyboard'], [Mouse, 'mouse'],
  [Request, 'request'], [Response, 'response'], [Dialog, 'dialog'], [Download, 'download'],
];

for (const [type, label] of EXPOSED) {
  // Those of a page have the title of the page, so they call the untitled ones of its frame.
  titleErrors(type, label, asyncMethods(type));
  rejectUnknown(type, label);
}
titleErrors(JSHandle, 'jsHandle', ['evaluate', 'evaluateHandle']);
rejectUnknown(FrameLocator, 'frameLocator');
rejectUnknown(ConsoleMessage, 'consoleMessage');
