// Browsers start no worker from a file: address. There the search's worker runs inside a hidden frame instead, so that the
// site can be read and searched from a directory. The name is the one under which the offline plugin looks for it.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...scripts) => Promise.all(scripts.map((script) => load(inside.document, script)));
      this.frame = frame;
      this.ready = load(inside.document, new URL(address, location));
    }

    postMessage(data) {
      const inside = this.frame.contentWindow;
      this.ready.then(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };

  function load(page, address) {
    return new Promise((loaded, failed) => {
      const script = page.createElement("script");
      script.src = address;
      script.onload = loaded;
      script.onerror = failed;
      page.body.append(script);
    });
  }
}
