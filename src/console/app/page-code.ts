import type { ComponentType } from 'preact';
import type { PageEntry } from '../pages/index.ts';

/**
 * Loads the part of the program that is a page. `again` says that it failed before: style sheets that did not arrive
 * then are to arrive now. Rejects with what the browser says.
 */
export async function loadPage({ load }: PageEntry, again: boolean): Promise<ComponentType> {
  const styles = missingStyles();
  // Those that another page was without are no matter of this one.
  await (again ? styles : styles.catch(() => undefined));
  return (await load()).default;
}

/** Asks again for the style sheets that did not arrive: a part that is loaded anew takes them to be there. */
async function missingStyles(): Promise<void> {
  const links = [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')];
  await Promise.all(links.filter(({ sheet }) => sheet === null).map(asked));
}

function asked(link: HTMLLinkElement): Promise<void> {
  const next = document.createElement('link');
  next.rel = 'stylesheet';
  next.crossOrigin = link.crossOrigin;
  next.href = link.href;
  return new Promise((resolve, reject) => {
    next.addEventListener('load', () => resolve());
    next.addEventListener('error', () => reject(new Error(`${next.href} could not be loaded.`)));
    link.replaceWith(next);
  });
}
