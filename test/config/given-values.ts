import fc from 'fast-check';
import { type SettingName, settingNames, settingOf } from '../../src/config/settings.ts';

/** Settings that a running service can store if the environment does not set them. */
export const storable = settingNames.filter((name) => !settingOf(name).secret && !settingOf(name).readOnly);

/** Texts that YAML would misinterpret without quotes. */
const tricky = fc.constantFrom(
  ...['null', '~', 'yes', '1e3', '0x10', '.inf', '# x', 'a: b', '- a', '*x', '&x', '!x', '%YAML', '---', '...', '<<'],
  ...['"', "'", 'a\nb', 'a\r\nb', ' a ', '\u0085', '\u2028', '\ufeff', '{', '[1]', '|', '>-', '__proto__', '@'],
);

const texts: Readonly<Record<string, fc.Arbitrary<string>>> = {
  network: fc.oneof(
    fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })).map(([ip, bits]) => `${ip}/${bits}`),
    fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 })).map(([ip, bits]) => `${ip}/${bits}`),
    fc.ipV4(),
  ),
  other: fc.oneof(
    tricky,
    fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }),
    fc.domain(),
    fc.webUrl({ withFragments: false }).map((url) => new URL(url).origin),
    fc.ipV6(),
  ),
};

function taken(name: SettingName, value: unknown): boolean {
  try {
    settingOf(name).read(value);
    return true;
  } catch {
    return false;
  }
}

function byItsSchema(schema: Readonly<Record<string, unknown>>): fc.Arbitrary<unknown> {
  const { type, minimum, maximum, enum: values, items, format, propertyNames, additionalProperties } = schema;
  if (values !== undefined) return fc.constantFrom(...(values as string[]));
  if (type === 'integer') return fc.integer({ min: minimum as number, max: Math.min(maximum as number, 2 ** 53 - 1) });
  if (type === 'boolean') return fc.boolean();
  if (type === 'array') return fc.array(byItsSchema(items as Readonly<Record<string, unknown>>), { maxLength: 4 });
  if (type === 'object') {
    const { pattern } = propertyNames as { readonly pattern: string };
    const of = byItsSchema(additionalProperties as Readonly<Record<string, unknown>>);
    return fc.dictionary(fc.stringMatching(new RegExp(pattern)), of, { maxKeys: 3, noNullPrototype: true });
  }
  return texts[(format as string | undefined) ?? 'other'] ?? fc.string();
}

/** Generates valid values of a setting. */
export function valueFor(name: SettingName): fc.Arbitrary<unknown> {
  return byItsSchema(settingOf(name).schema).filter((value) => taken(name, value));
}

/** Generates any subset of the settings, with a value or null. */
export const subset: fc.Arbitrary<Partial<Record<SettingName, unknown>>> = fc
  .subarray([...storable], { maxLength: 8 })
  .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, fc.option(valueFor(name), { freq: 4 })]))));
