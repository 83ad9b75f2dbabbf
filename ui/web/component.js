// What components have in common.

// Python's data of a scene: a line about it, then its figure.
export function readScene(data) {
  const read = (bytes) => JSON.parse(new TextDecoder().decode(bytes));
  const cut = data.indexOf(10);
  return { header: read(data.subarray(0, cut)), readFigure: () => read(data.subarray(cut + 1)) };
}

// The address of one of the app's files: a proxy may have put a folder before them.
export function addressAtServer(path) {
  const server = window.__streamlit?.BACKEND_BASE_URL ?? new URL(".", location.href).href;
  return new URL(path, server).href;
}

// What is mounted once in a component's element and told of all that Python sends; what to end with.
export function updateMounted(component, mount) {
  const { parentElement: parent } = component;
  (parent.__tilewise ??= mount(parent)).update(component);
  return endWith(parent);
}

// What Streamlit calls to clean up. It also does after data that newer data has overtaken; what is
// mounted stays then.
export function endWith(parent) {
  return () => {
    if (parent.isConnected) return;
    parent.__tilewise?.close();
    delete parent.__tilewise;
  };
}
