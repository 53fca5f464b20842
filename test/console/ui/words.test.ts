import { describe, expect, test } from 'vitest';
import { isolateText, quoted } from '../../../src/console/ui/words.ts';

describe('text from the data within a sentence', () => {
  test('is enclosed in Unicode isolate characters, otherwise unchanged', () => {
    expect(isolateText('Scan of 10.0.0.1')).toBe('\u2068Scan of 10.0.0.1\u2069');
    expect(isolateText('שלום \u200f!')).toBe('\u2068שלום \u200f!\u2069');
    expect(quoted('Scan')).toBe('“\u2068Scan\u2069”');
  });

  test.each([
    ['an override', '\u202e', '\\u{202e}'],
    ['an override to the right', '\u202d', '\\u{202d}'],
    ['an embedding', '\u202b', '\\u{202b}'],
    ['an isolate that is not ended', '\u2067', '\\u{2067}'],
    ['an isolate of the first strong direction', '\u2068', '\\u{2068}'],
    ['an end of the surrounding isolate', '\u2069', '\\u{2069}'],
  ])('has its reordering characters escaped: %s', (_, control, shown) => {
    expect(isolateText(`a${control}b${control}`)).toBe(`\u2068a${shown}b${shown}\u2069`);
  });

  test.each(['\n', '\r\n', '\u001c', '\u0085', '\u2029'])('has its paragraph separators replaced: %j', (end) => {
    expect(isolateText(`a${end}b`)).toBe('\u2068a b\u2069');
  });

  test('is truncated between characters if it is long', () => {
    expect(isolateText('x'.repeat(160))).toBe(`\u2068${'x'.repeat(160)}\u2069`);
    expect(isolateText('x'.repeat(161))).toBe(`\u2068${'x'.repeat(159)}…\u2069`);
    expect(isolateText('😀'.repeat(160))).toBe(`\u2068${'😀'.repeat(160)}\u2069`);
    expect(isolateText('😀'.repeat(5000), 4)).toBe('\u2068😀😀😀…\u2069');
  });
});
