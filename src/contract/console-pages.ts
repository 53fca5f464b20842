/**
 * The pages of the console, each a path of one segment: `/alerts`. The query string holds the state of a
 * page. Used by the router of the console and by the server, which serves the same document for each page.
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
