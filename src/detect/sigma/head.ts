import { ruleStatuses, severities } from '../../contract/vocabulary.ts';
import { omitUndefined } from '../../database/omit-undefined.ts';
import type { Check } from './check.ts';
import type { Head, Logsource } from './document.ts';
import type { Path } from './problem.ts';
import { isObject, type JsonObject } from './record.ts';
import type { YamlDocument } from './yaml-text.ts';

const maxTitleLength = 256;
const maxDescriptionLength = 65_535;
const maxLineLength = 2048;

/** Reads the attributes that all kinds of documents share. Lengths and formats follow the specification's schemas. */
export function readHead(
  document: JsonObject,
  { line, lines }: Pick<YamlDocument, 'line' | 'lines'>,
  check: Check,
): Head | undefined {
  const before = check.problems.length;
  const title = check.required(check.text(document.title, ['title'], maxTitleLength), document.title, ['title']);
  const id = check.matching(document.id, ['id'], uuid, 'a UUID');
  const name = check.text(document.name, ['name'], maxTitleLength);
  const status = check.oneOf(document.status, ['status'], ruleStatuses);
  const description = check.text(document.description, ['description'], maxDescriptionLength);
  const author = check.text(document.author, ['author'], maxLineLength);
  const level = check.oneOf(document.level, ['level'], severities);
  const tags = check.texts(document.tags, ['tags'], maxTitleLength);
  tags.forEach((tag) => {
    if (!/^[a-z0-9_-]+\.[a-z0-9._-]+$/.test(tag))
      check.problem(
        ['tags', (document.tags as unknown[]).indexOf(tag)],
        'is not of the form namespace.name in lower case',
      );
  });
  const references = check.texts(document.references, ['references'], maxLineLength);
  const falsepositives = check.texts(asList(document.falsepositives), ['falsepositives'], maxLineLength, 2);
  checkUnkept(document, check);
  if (title === undefined || check.problems.length > before) return undefined;
  return {
    title,
    ...omitUndefined({ id: id?.toLowerCase(), name, status, description, author, level }),
    tags,
    references,
    falsepositives,
    line,
    lines,
  };
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Converts a single text to a list, because the schema of correlations allows one text instead of a list. */
const asList = (value: unknown): unknown => (typeof value === 'string' ? [value] : value);

/** Checks attributes that are not used but must be valid if present. */
function checkUnkept(document: JsonObject, check: Check): void {
  check.text(document.taxonomy, ['taxonomy'], maxTitleLength);
  check.text(document.license, ['license'], maxTitleLength);
  check.texts(document.fields, ['fields'], maxTitleLength);
  check.texts(document.scope, ['scope'], maxTitleLength, 2);
  for (const name of ['date', 'modified']) {
    const date = check.matching(
      document[name],
      [name],
      /^\d{4}-\d{2}-\d{2}$/,
      'a date as YYYY-MM-DD (Sigma 1 wrote slashes)',
    );
    if (date !== undefined && !isDate(date)) check.problem([name], 'is not a valid date');
  }
  const related: unknown = document.related;
  if (related === undefined || related === null) return;
  if (!Array.isArray(related)) return check.problem(['related'], 'is not a list');
  for (const [index, relation] of related.entries()) checkRelation(relation, ['related', index], check);
}

function checkRelation(relation: unknown, path: Path, check: Check): void {
  if (!isObject(relation)) return check.problem(path, 'is not a mapping');
  const [idPath, typePath] = [
    [...path, 'id'],
    [...path, 'type'],
  ];
  check.required(check.matching(relation.id, idPath, uuid, 'a UUID'), relation.id, idPath);
  check.required(check.oneOf(relation.type, typePath, relations), relation.type, typePath);
}

const relations = ['derived', 'obsolete', 'merged', 'renamed', 'similar'] as const;

function isDate(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Reads the log source, which may be empty; an empty log source is a problem when the rule is compiled. */
export function readLogsource(value: unknown, check: Check): Logsource | undefined {
  const given = check.required(check.mapping(value, ['logsource']), value, ['logsource']);
  if (given === undefined) return undefined;
  const part = (name: string) => check.text(given[name], ['logsource', name], 256)?.toLowerCase();
  const [category, product, service] = [part('category'), part('product'), part('service')];
  const definition = check.text(given.definition, ['logsource', 'definition'], maxDescriptionLength);
  return omitUndefined({ category, product, service, definition });
}
