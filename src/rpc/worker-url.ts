/**
 * Returns the URL of a worker's entry: in a checkout `workers/<name>.ts`, run directly; in an installed
 * package `dist/workers/<name>.js`. In both cases, the folder of workers is beside `src`, and the entry has
 * the extension of this file.
 */
export function workerUrl(name: string): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`../../workers/${name}.${extension}`, import.meta.url);
}
