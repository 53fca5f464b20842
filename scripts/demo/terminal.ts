import type { Severity } from '../../src/contract/vocabulary.ts';

const colour = process.stdout.isTTY && process.env.NO_COLOR === undefined;
const paint = (code: number) => (text: string) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text);

export const bold = paint(1);
export const dim = paint(2);
const green = paint(32);

const severityPaint: Readonly<Record<Severity, (text: string) => string>> = {
  informational: paint(2),
  low: paint(36),
  medium: paint(33),
  high: paint(31),
  critical: paint(35),
};
export const severityText = (severity: Severity, width = 0) => severityPaint[severity](severity.padEnd(width));

let updating = false;

/** Prints a permanent line. */
export function say(text = ''): void {
  settle();
  process.stdout.write(`${text}\n`);
}

/** Prints a completed step. */
export function tick(what: string, detail: string): void {
  say(`  ${green('✓')} ${what.padEnd(26)} ${dim(detail)}`);
}

/** Prints a line that the next update replaces; without a terminal, prints a permanent line. */
export function update(text: string): void {
  if (process.stdout.isTTY) {
    process.stdout.write(`\r\x1b[2K${cut(text, (process.stdout.columns ?? 80) - 1)}`);
    updating = true;
  } else {
    process.stdout.write(`${text}\n`);
  }
}

/** Interval of progress lines in milliseconds: a terminal shows one line, a file keeps all. */
export const refreshMs = process.stdout.isTTY ? 250 : 5000;

function settle(): void {
  if (updating) process.stdout.write('\n');
  updating = false;
}

/** Returns the first `width` visible characters, because a wrapped line could not be replaced. */
function cut(text: string, width: number): string {
  let seen = 0;
  let shown = '';
  for (const [part] of text.matchAll(/\p{Cc}\[\d+m|[^\p{Cc}]/gu)) {
    const visible = part.length === 1;
    if (visible) seen++;
    if (seen <= width || !visible) shown += part;
  }
  return shown;
}
