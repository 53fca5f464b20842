/**
 * A small console as the build writes it: a folder with the console's files, and other files that must not be
 * served.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

export const html = `<!doctype html><title>Candor</title>${'<p>console</p>'.repeat(20)}`;
export const script = 'export const answer = 42;\n'.repeat(200);
export const style = 'body { color: red }\n'.repeat(200);
export const font = Buffer.from('wOF2 as compressed as it gets');

/** The script, compressed by the build. The service would compress it to other bytes. */
export const builtBrotli = brotliCompressSync(script);
export const builtGzip = gzipSync(script, { level: 1 });

export interface BuiltConsole {
  readonly folder: string;
  remove(): void;
}

export function buildFixture(): BuiltConsole {
  const folder = mkdtempSync(join(tmpdir(), 'candor-console-'));
  const assets = join(folder, 'console');
  mkdirSync(join(assets, 'sub'), { recursive: true });
  const write = (name: string, content: string | Buffer) => writeFileSync(join(assets, name), content);
  writeFileSync(join(folder, 'index.html'), html);
  // A compressed document from another build: the service must compress `index.html` again.
  writeFileSync(join(folder, 'index.html.br'), brotliCompressSync('<!doctype html>old'));
  write('main-BxY3_-9a.js', script);
  write('main-BxY3_-9a.js.br', builtBrotli);
  write('main-BxY3_-9a.js.gz', builtGzip);
  write('style-C0ffee00.css', style);
  write('icon-D15ea5e0.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
  write('mono-Ab12Cd34.woff2', font);
  write('main-BxY3_-9a.js.map', '{}');
  write('notes.txt', 'notes');
  write('.hidden.js', 'hidden');
  write(':name.js', 'of no build');
  write(join('sub', 'inner.js'), 'inner');
  symlinkSync(join(folder, 'index.html'), join(assets, 'link.js'));
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}
