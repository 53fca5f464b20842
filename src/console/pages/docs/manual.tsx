import { type ComponentChild, h } from 'preact';
import type { MarkdownNode } from '../../markdown.ts';
import { href, place } from '../../state/address.ts';
import { Empty } from '../../ui/states.tsx';
import { manualPages, pageNames, searchPages } from './manual-pages.ts';

/** The manual: the list of pages with the page that the URL names, or the search results. */
export function Manual({ query }: { query: string }) {
  const asked = place.value.params.get('page') ?? '';
  const name = manualPages.has(asked) ? asked : 'first-day';
  return (
    <div class="manual">
      <nav class="panel manual-pages" aria-label="Manual pages">
        {pageNames.map((one) => (
          <a
            key={one}
            class={one.includes('/') ? 'manual-sub' : ''}
            href={href('docs', { page: one })}
            aria-current={query === '' && one === name ? 'page' : undefined}
          >
            {manualPages.get(one)!.title}
          </a>
        ))}
      </nav>
      {query === '' ? (
        <article class="panel manual-page" key={name}>
          {manualPages.get(name)!.content.map(elementOf)}
        </article>
      ) : (
        <Found query={query} />
      )}
    </div>
  );
}

function Found({ query }: { query: string }) {
  const found = searchPages(query);
  if (found.length === 0) return <Empty title="No matching pages" />;
  return (
    <ul class="panel manual-page" aria-label="Search results">
      {found.map(({ name, title, around }) => (
        <li key={name}>
          <a href={href('docs', { page: name })}>{title}</a>
          <p class="quiet">… {around} …</p>
        </li>
      ))}
    </ul>
  );
}

function elementOf(node: MarkdownNode): ComponentChild {
  if (typeof node === 'string') return node;
  const [tag, attributes, ...children] = node;
  return h(tag, attributes, ...children.map(elementOf));
}
