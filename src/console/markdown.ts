import { marked, type Token, type Tokens } from 'marked';
import type { Plugin } from 'vite';

/**
 * A text, or an element with attributes and children. The console never inserts HTML strings (Trusted Types).
 */
export type MarkdownNode = string | readonly [tag: string, attributes: Attributes, ...children: MarkdownNode[]];
type Attributes = Readonly<Record<string, string>>;

/**
 * Returns a Vite plugin that turns Markdown files into modules: the title, and the page as a tree of elements. Links to
 * other pages lead to the console's documentation; other relative links become plain text.
 */
export function markdownPages(): Plugin {
  return {
    name: 'markdown-pages',
    transform(source, id) {
      if (!id.endsWith('.md')) return;
      const page = id.replace(/^.*\/docs\//, '').replace(/\.md$/, '');
      const title = /^# (.+)$/m.exec(source)?.[1] ?? page;
      const content = nodesOf(marked.lexer(source), page);
      return { code: `export default ${JSON.stringify({ title, content })};`, map: null };
    },
  };
}

function nodesOf(tokens: readonly Token[] = [], page: string): MarkdownNode[] {
  return tokens.flatMap((token) => nodeOf(token as Tokens.Generic, page));
}

function nodeOf(token: Tokens.Generic, page: string): MarkdownNode[] {
  const children = () => nodesOf(token.tokens, page);
  const element = (tag: string, ...nodes: MarkdownNode[]): MarkdownNode[] => [[tag, {}, ...nodes]];
  switch (token.type) {
    case 'heading':
      // The title of the console page is the only h1.
      return element(`h${token.depth + 1}`, ...children());
    case 'paragraph':
      return element('p', ...children());
    case 'strong':
    case 'em':
    case 'blockquote':
      return element(token.type, ...children());
    case 'codespan':
      return element('code', decoded(token.text));
    case 'code':
      return [['pre', { tabindex: '0' }, ['code', {}, token.text]]];
    case 'list':
      return element(
        token.ordered ? 'ol' : 'ul',
        ...token.items.map((item: Tokens.ListItem): MarkdownNode => ['li', {}, ...nodesOf(item.tokens, page)]),
      );
    case 'table':
      return [
        [
          'table',
          { tabindex: '0' },
          ['thead', {}, rowOf('th', token.header, page)],
          ['tbody', {}, ...token.rows.map((row: Tokens.TableCell[]) => rowOf('td', row, page))],
        ],
      ];
    case 'link':
      return linked(token.href, children(), page);
    case 'text':
    case 'escape':
      return token.tokens === undefined ? [decoded(token.text)] : children();
    case 'space':
    case 'html':
      return [];
    default:
      throw new Error(`${page}.md: Markdown token type ${token.type} is not supported`);
  }
}

const rowOf = (tag: string, cells: readonly Tokens.TableCell[], page: string): MarkdownNode => [
  'tr',
  {},
  ...cells.map((cell): MarkdownNode => [tag, {}, ...nodesOf(cell.tokens, page)]),
];

function linked(target: string, children: MarkdownNode[], page: string): MarkdownNode[] {
  if (/^https?:/.test(target)) return [['a', { href: target, target: '_blank', rel: 'noreferrer' }, ...children]];
  const name = /^\/docs\/(.+)\.md$/.exec(new URL(target, `file:///docs/${page}`).pathname)?.[1];
  return name === undefined ? children : [['a', { href: `/docs?page=${encodeURIComponent(name)}` }, ...children]];
}

const decoded = (text: string) =>
  text.replace(
    /&(lt|gt|amp|quot|#39);/g,
    (_, name: string) => ({ lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" })[name]!,
  );
