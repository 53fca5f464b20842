/**
 * The pages of the console, each a path of one segment: `/alerts`. Whatever else a page shows is in its query string.
 * The console's router and the server, which answers the same document at each of them, both read this list.
 */
export const consolePages = [
  'overview',
  'alerts',
  'events',
  'assets',
  'topology',
  'discovery',
  'transparency',
  'administration',
  'status',
  'docs',
  'sign-in',
] as const;
export type ConsolePage = (typeof consolePages)[number];
