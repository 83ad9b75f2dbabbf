// What a file that no server draws knows of its reader: whether they have a phone, and which colours
// their system asks for.
const [isPhone, isDark] = ["(max-width: 640px)", "(prefers-color-scheme: dark)"].map(
  (query) => window.matchMedia(query),
);

// Of a scene's figures the name of the one for this reader.
export const figureName = () => (
  `${isPhone.matches ? "phone" : "wide"}-${isDark.matches ? "dark" : "light"}`
);

export function whenReaderChanges(act) {
  for (const one of [isPhone, isDark]) one.addEventListener("change", act);
}
