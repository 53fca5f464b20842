import type { ComponentType } from 'preact';
import type { PageEntry } from '../pages/index.ts';

/**
 * Loads the code of a page. `again` means that an earlier attempt failed: style sheets that did not arrive
 * are then requested again. Rejects with the browser's error.
 */
export async function loadPage({ load }: PageEntry, again: boolean): Promise<ComponentType> {
  const styles = missingStyles();
  // On a first attempt, missing style sheets of other pages are ignored.
  await (again ? styles : styles.catch(() => undefined));
  return (await load()).default;
}

/** Requests missing style sheets again, because importing a module again assumes that they are loaded. */
async function missingStyles(): Promise<void> {
  const links = [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')];
  await Promise.all(links.filter(({ sheet }) => sheet === null).map(reloadStyle));
}

function reloadStyle(link: HTMLLinkElement): Promise<void> {
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
