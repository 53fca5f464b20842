import { isDeepStrictEqual } from 'node:util';
import { type Document, isMap, isNode, isScalar, isSeq, type Pair, Scalar, type YAMLMap } from 'yaml';
import { type ConfigFile, type ConfigText, isGroup } from './config-file.ts';
import { isMapping } from './readers.ts';
import type { SettingName } from './settings.ts';

/** Values by setting, as returned by `read`; undefined removes the setting from the file. */
export type Changes = ReadonlyMap<SettingName, unknown>;

/**
 * Returns the text of the file with these changes. JSON stays JSON, and YAML keeps its comments and order. A setting is
 * changed in place. A new setting is added to its group if the file has the group, otherwise at the end, by its dotted
 * name. Values that do not change keep their spelling.
 */
export function editConfig(file: ConfigFile, before: ConfigText, changes: Changes): string {
  const effective = [...changes].filter(([name, value]) => !holds(before, name, value));
  if (effective.length === 0) return before.text;
  const json = jsonOf(file, before.text);
  const edited = json === undefined ? editYaml(before, effective) : editJson(json, before, effective);
  return before.text.includes('\r\n') ? edited.replaceAll(/\r?\n/g, '\r\n') : edited;
}

function holds({ given, paths }: ConfigText, name: SettingName, value: unknown): boolean {
  if (value === undefined) return !paths.has(name);
  const raw = given.get(name)?.raw;
  return raw !== undefined && isDeepStrictEqual(raw, value);
}

type Json = Record<string, unknown>;

/** Returns the content if the file is JSON, otherwise undefined. A new file in the data folder becomes JSON. */
function jsonOf({ path, named }: ConfigFile, text: string): Json | undefined {
  if (text.trim() === '') return !named || path.endsWith('.json') ? {} : undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isMapping(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function editJson(content: Json, { text, paths }: ConfigText, changes: [SettingName, unknown][]): string {
  for (const [name, value] of changes) {
    const path = paths.get(name) ?? placeIn(content, name);
    if (value === undefined) removeFromJson(content, path);
    else parentIn(content, path)[path.at(-1)!] = value;
  }
  const indent = text.trim() === '' ? '  ' : (/^\s*\{\s*?\n([ \t]*)/.exec(text)?.[1] ?? '');
  return `${JSON.stringify(content, null, indent)}\n`;
}

function parentIn(content: Json, path: readonly string[]): Json {
  return path.slice(0, -1).reduce<Json>((parent, key) => parent[key] as Json, content);
}

function removeFromJson(content: Json, path: readonly string[]): void {
  const parent = parentIn(content, path);
  delete parent[path.at(-1)!];
  if (path.length > 1 && Object.keys(parent).length === 0) removeFromJson(content, path.slice(0, -1));
}

/** Returns the place of a new setting: the innermost of its groups that has a mapping. */
function placeIn(content: unknown, name: SettingName): string[] {
  const descend = (mapping: Json, above: string): string[] => {
    for (const [key, value] of Object.entries(mapping)) {
      const group = above + key;
      if (isMapping(value) && isGroup(group) && name.startsWith(`${group}.`))
        return [key, ...descend(value, `${group}.`)];
    }
    return [name.slice(above.length)];
  };
  return isMapping(content) ? descend(content, '') : [name];
}

function editYaml({ document, paths }: ConfigText, changes: [SettingName, unknown][]): string {
  if (!isMap(document.contents)) document.contents = document.createNode({});
  for (const [name, value] of changes) {
    const path = paths.get(name) ?? placeIn(document.toJS(), name);
    if (value === undefined) removeFromYaml(document, path);
    else setInYaml(document, path, value);
  }
  return document.toString({ lineWidth: 0 });
}

type Mapping = YAMLMap<unknown, unknown>;

function mappingAt(document: Document, path: readonly string[]): Mapping {
  return (path.length === 0 ? document.contents : document.getIn(path, true)) as Mapping;
}

function indexOf(mapping: Mapping, key: string): number {
  return mapping.items.findIndex((pair) => String(isScalar(pair.key) ? pair.key.value : pair.key) === key);
}

function setInYaml(document: Document, path: readonly string[], value: unknown): void {
  const mapping = mappingAt(document, path.slice(0, -1));
  const key = path.at(-1)!;
  const pair: Pair<unknown, unknown> | undefined = mapping.items[indexOf(mapping, key)];
  const node = document.createNode(value);
  if (pair === undefined) {
    // After all settings were removed, `{}` remains. New settings are written as lines of a block.
    if (mapping.items.length === 0) mapping.flow = false;
    mapping.items.push(document.createPair(key, node));
    return;
  }
  const old = pair.value;
  pair.value = node;
  if (!isNode(old) || !isNode(node)) return;
  const { commentBefore, comment, spaceBefore } = old;
  Object.assign(node, { commentBefore, comment, spaceBefore });
  if (!isSeq(old) || !isSeq(node)) return;
  if (old.flow !== undefined) node.flow = old.flow;
  // Items that remain keep their comments.
  node.items = node.items.map(
    (item) => old.items.find((one) => isScalar(one) && isScalar(item) && one.value === item.value) ?? item,
  );
}

/**
 * Removes a pair, and groups that are empty afterwards. Comments above the pair stay, because they may be about the
 * following settings.
 */
function removeFromYaml(document: Document, path: readonly string[], more: readonly string[] = []): void {
  const mapping = mappingAt(document, path.slice(0, -1));
  const at = indexOf(mapping, path.at(-1)!);
  const [pair] = mapping.items.splice(at, 1);
  const comments = [commentOf(pair?.key), ...more].filter((comment) => comment !== '');
  if (path.length > 1 && mapping.items.length === 0) {
    const own = [mapping.commentBefore, ...comments, mapping.comment].filter((one) => typeof one === 'string');
    removeFromYaml(document, path.slice(0, -1), own);
    return;
  }
  if (comments.length === 0) return;
  const next = mapping.items[at];
  if (next === undefined) mapping.comment = [mapping.comment ?? '', ...comments].filter(Boolean).join('\n');
  else {
    const key = next.key instanceof Scalar ? next.key : new Scalar(next.key);
    key.commentBefore = [...comments, key.commentBefore ?? ''].filter(Boolean).join('\n');
    next.key = key;
  }
}

function commentOf(key: unknown): string {
  return isScalar(key) ? (key.commentBefore ?? '') : '';
}
