import { marked } from 'marked';
import type { Plugin } from 'vite';

/**
 * Makes modules of Markdown files at build time: the title, and the page as HTML. Links between pages lead to the pages of
 * the console; links to other files of the repository become plain text.
 */
export function markdownPages(): Plugin {
  return {
    name: 'markdown-pages',
    transform(source, id) {
      if (!id.endsWith('.md')) return;
      const page = id.replace(/^.*\/docs\//, '').replace(/\.md$/, '');
      const tokens = marked.lexer(source);
      const title = /^# (.+)$/m.exec(source)?.[1] ?? page;
      const html = linked(marked.parser(tokens), page);
      return { code: `export default ${JSON.stringify({ title, html })};`, map: null };
    },
  };
}

function linked(html: string, page: string): string {
  return html.replace(/<a href="([^"]*)">([\s\S]*?)<\/a>/g, (link, target: string, text: string) => {
    if (/^https?:/.test(target)) return link.replace('<a ', '<a target="_blank" rel="noreferrer" ');
    const path = new URL(target, `file:///docs/${page}`).pathname;
    const name = /^\/docs\/(.+)\.md$/.exec(path)?.[1];
    return name === undefined ? text : `<a href="/docs?page=${encodeURIComponent(name)}">${text}</a>`;
  });
}
