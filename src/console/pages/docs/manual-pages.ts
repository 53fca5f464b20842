import type { MarkdownNode } from '../../markdown.ts';

interface ManualPage {
  readonly title: string;
  readonly content: readonly MarkdownNode[];
}

const modules = import.meta.glob<ManualPage>('../../../docs/**/*.md', { eager: true, import: 'default' });

/** Pages of the manual by name, such as `tls` and `transparency/keys`. */
export const manualPages: ReadonlyMap<string, ManualPage> = new Map(
  Object.entries(modules).map(([path, page]) => [/docs\/(.+)\.md$/.exec(path)![1]!, page]),
);

/** Names of pages in reading order. */
const order = [
  'first-day',
  'shippers',
  'sensors',
  'ingest',
  'detection',
  'alerts',
  'assets',
  'api',
  'interface',
  'access',
  'tls',
  'settings',
  'production',
  'troubleshooting',
  'transparency',
];
const last = ['architecture', 'development', 'changelog'];

export const pageNames: readonly string[] = [...manualPages.keys()].sort((a, b) => rank(a) - rank(b));

function rank(name: string): number {
  if (last.includes(name)) return 1000 + last.indexOf(name);
  const place = order.indexOf(name.split('/')[0]!);
  return (place < 0 ? order.length : place) + (name.includes('/') ? 0.5 : 0);
}

/** A search result: a page with the text around the first search word. */
interface Match {
  readonly name: string;
  readonly title: string;
  readonly around: string;
}

/** Returns the pages that contain all words. Pages with the words in their title come first. */
export function searchPages(query: string): Match[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const hasAll = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const found = pageNames.flatMap((name) => {
    const { title, content } = manualPages.get(name)!;
    const text = textOf(content).replace(/\s+/g, ' ');
    if (!hasAll(text)) return [];
    const at = Math.max(0, text.toLowerCase().indexOf(words[0] ?? '') - 60);
    return [{ name, title, around: text.slice(at, at + 200).trim() }];
  });
  return found.sort((a, b) => Number(hasAll(b.title)) - Number(hasAll(a.title)));
}

function textOf(nodes: readonly MarkdownNode[]): string {
  return nodes.map((node) => (typeof node === 'string' ? node : textOf(node.slice(2) as MarkdownNode[]))).join(' ');
}
