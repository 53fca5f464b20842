/** Modules that Vite creates from files other than scripts. */
declare module '*.css';
declare module '*.svg' {
  const url: string;
  export default url;
}
/** A page of the documentation, as built by the plugin in markdown.ts. */
declare module '*.md' {
  const page: { title: string; content: import('./markdown.ts').MarkdownNode[] };
  export default page;
}
interface ImportMeta {
  glob<T>(pattern: string, options: { eager: true; import: 'default' }): Record<string, T>;
}
