import type { ComponentType } from 'preact';

/** Links of style sheets that failed to load. The browser reports failures only to listeners that capture events. */
const failed = new Set<HTMLLinkElement>();
addEventListener(
  'error',
  ({ target }) => {
    if (target instanceof HTMLLinkElement && target.relList.contains('stylesheet')) failed.add(target);
  },
  { capture: true },
);

/** Imports the module of a page or of a view. */
export type ImportPage = () => Promise<{ default: ComponentType }>;

/**
 * Loads the code of a page or a view. `again` means that an earlier attempt failed. Rejects with the browser's error.
 */
export async function loadPage(importPage: ImportPage, again: boolean): Promise<ComponentType> {
  const styles = failedStyles();
  // On a first attempt, failed style sheets of other pages are ignored.
  await (again ? styles : styles.catch(() => undefined));
  return (await importPage()).default;
}

/**
 * Requests failed style sheets again, because importing a module again assumes that they are loaded. Links of style
 * sheets that are still loading are not replaced: the imports that wait for them would wait forever.
 */
async function failedStyles(): Promise<void> {
  await Promise.all([...failed].map(reloadStyle));
}

function reloadStyle(link: HTMLLinkElement): Promise<void> {
  failed.delete(link);
  const next = document.createElement('link');
  next.rel = 'stylesheet';
  next.crossOrigin = link.crossOrigin;
  next.href = link.href;
  return new Promise((resolve, reject) => {
    next.addEventListener('load', () => resolve());
    next.addEventListener('error', () => reject(new Error(`${next.href} could not be loaded`)));
    link.replaceWith(next);
  });
}
