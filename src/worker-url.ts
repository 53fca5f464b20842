/**
 * Where a worker's entry lies. In a checkout that is `workers/<name>.ts`, run as written; in an installed package
 * `dist/workers/<name>.js`. Either way it is beside `src`, in the form that this file itself has.
 */
export function workerUrl(name: string): URL {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`../workers/${name}.${extension}`, import.meta.url);
}
