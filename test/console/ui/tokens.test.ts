/** Severity colours are distinguishable and readable in both themes, for colour-blind users too. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { severities } from '../../../src/contract/vocabulary.ts';

const css = readFileSync(new URL('../../../src/console/ui/style/tokens.css', import.meta.url), 'utf8');
const coloursOf = (block: string): Record<string, string> =>
  Object.fromEntries([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, hex]) => [name, hex]));
const [dark = '', light = ''] = css.split('[data-theme="light"]');

type Colour = readonly [number, number, number];
type Matrix = readonly [Colour, Colour, Colour];

const linear = (hex: string): Colour => {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return [r!, g!, b!];
};
const times = (matrix: Matrix, [r, g, b]: Colour): Colour =>
  matrix.map((row) => row[0] * r + row[1] * g + row[2] * b) as unknown as Colour;

/** Returns the relative luminance (WCAG 2.2). */
const luminance = (hex: string): number =>
  times(
    [
      [0.2126, 0.7152, 0.0722],
      [0, 0, 0],
      [0, 0, 0],
    ],
    linear(hex),
  )[0];
function contrast(one: string, other: string): number {
  const [lower = 0, higher = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (higher + 0.05) / (lower + 0.05);
}

/** Machado, Oliveira and Fernandes 2009, at full severity. */
const eyes: Readonly<Record<string, Matrix>> = {
  'normal vision': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152_286, 1.052_583, -0.204_868],
    [0.114_503, 0.786_281, 0.099_216],
    [-0.003_882, -0.048_116, 1.051_998],
  ],
  deuteranopia: [
    [0.367_322, 0.860_646, -0.227_968],
    [0.280_085, 0.672_501, 0.047_413],
    [-0.011_82, 0.042_94, 0.968_881],
  ],
  tritanopia: [
    [1.255_528, -0.076_749, -0.178_779],
    [-0.078_411, 0.930_809, 0.147_602],
    [0.004_733, 0.691_367, 0.3039],
  ],
};

/** Returns the distance in OKLab, scaled so that black and white are 100 apart. */
function distance(one: string, other: string, seen: Matrix): number {
  const [a, b] = [one, other].map((hex) => {
    const cones = times(
      [
        [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
        [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
        [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
      ],
      times(seen, linear(hex)).map((part) => Math.min(1, Math.max(0, part))) as unknown as Colour,
    );
    return times(
      [
        [0.210_454_255_3, 0.793_617_785, -0.004_072_046_8],
        [1.977_998_495_1, -2.428_592_205, 0.450_593_709_9],
        [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766],
      ],
      cones.map(Math.cbrt) as unknown as Colour,
    );
  });
  return 100 * Math.hypot(...a!.map((part, at) => part - b![at]!));
}

describe.each([
  ['dark', coloursOf(dark)],
  ['light', coloursOf(light)],
])('in the %s theme', (_name, colours) => {
  test.each(severities)('%s is readable on every background', (severity) => {
    for (const ground of ['ground', 'panel', 'raised', 'selected', 'hover'])
      expect(contrast(colours[severity]!, colours[ground]!), ground).toBeGreaterThanOrEqual(4.5);
  });

  test.each(Object.entries(eyes))('severities are distinguishable with %s', (_eye, seen) => {
    for (const [at, severity] of severities.entries())
      for (const other of severities.slice(at + 1))
        expect(distance(colours[severity]!, colours[other]!, seen), `${severity}, ${other}`).toBeGreaterThanOrEqual(7);
  });
});
