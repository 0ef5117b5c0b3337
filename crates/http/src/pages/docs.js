// Starts Swagger UI, and lets it show a stream: by itself it shows an answer when the answer has ended.

// The document, the page and the API are served side by side, below whatever path a proxy has put before them.
const base = new URL(".", location.href);

const LISTEN = "listen";
// What is kept of a stream on the page, in characters.
const MOST_SHOWN = 50_000;

// The schemes of the document whose credentials open a stream, in the order in which they are tried.
const SCHEMES = ["userToken", "userTokenInQuery", "readKey", "fullKey"];

const streams = ({ getSystem, React: { createElement, useEffect, useRef, useState } }) => {
  function Listener({ path, method, specSelectors, specActions }) {
    const [text, setText] = useState("");
    const [state, setState] = useState("");
    const running = useRef(null);
    const stop = () => running.current?.abort();
    useEffect(() => stop, []);

    const listen = async () => {
      specActions.validateParams([path, method]);
      if (!specSelectors.validateBeforeExecute([path, method])) return;
      const given = specSelectors.parameterValues([path, method]).toJS();
      const value = (name) => String(Object.entries(given).find(([key]) => key.startsWith(name))?.[1] ?? "");
      const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(value(`path.${name}`)));
      // A header takes only bytes.
      const lastId = String.fromCharCode(...new TextEncoder().encode(value("header.Last-Event-ID")));
      const authorized = getSystem?.().authSelectors?.authorized?.()?.toJS() ?? {};
      const credential = SCHEMES.map((scheme) => authorized[scheme]?.value).find(Boolean);
      const here = (running.current = new AbortController());
      setText("");
      setState("connecting");
      try {
        const answer = await fetch(new URL(filled.slice(1), base), {
          headers: {
            ...(lastId && { "Last-Event-ID": lastId }),
            ...(credential && { Authorization: `Bearer ${credential}` }),
          },
          signal: here.signal,
        });
        setState(answer.ok ? "open: events appear as they happen" : `refused with ${answer.status}`);
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let part = await reader.read(); !part.done; part = await reader.read()) {
          setText((text) => (text + part.value).slice(-MOST_SHOWN));
        }
        if (answer.ok) setState("ended by the server");
      } catch (error) {
        setState(here.signal.aborted ? "closed" : `broken: ${error.message}`);
      }
      if (running.current === here) running.current = null;
    };

    const busy = running.current !== null;
    return createElement(
      "div",
      { style: { width: "100%", textAlign: "left" } },
      createElement(
        "button",
        { className: "btn execute opblock-control__btn", id: "listen", onClick: busy ? stop : listen },
        busy ? "Close the stream" : "Open the stream",
      ),
      state && createElement("p", { id: "listen-state" }, state),
      text && createElement("pre", { className: "microlight", id: "listen-text" }, text),
    );
  }

  return {
    wrapComponents: {
      execute: (Execute) => (props) =>
        createElement(props.operation.get("operationId") === LISTEN ? Listener : Execute, props),
      // There is nothing to clear.
      clear: (Clear) => (props) =>
        props.operation?.get("operationId") === LISTEN ? null : createElement(Clear, props),
    },
  };
};

SwaggerUIBundle({
  url: new URL("openapi.json", base).href,
  dom_id: "#docs",
  deepLinking: true,
  validatorUrl: null,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  plugins: [streams],
});
