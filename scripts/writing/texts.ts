import { parseSync, Visitor } from 'rolldown/utils';
import { parse as parseYaml } from 'yaml';

/** One paragraph of prose in a source file. */
export interface Text {
  /** The line where the paragraph begins, from 1. */
  readonly line: number;
  readonly text: string;
}

/** A comment with this word excludes its own line and the next line from the check. */
const allowance = 'writing-allow';

/**
 * Returns the prose of a file: comments and texts of TypeScript, comments of style sheets and shell scripts, paragraphs
 * of Markdown, and titles and descriptions of detection rules.
 * @param path - determines the language, and whether all strings count or, in tests, only the names of tests
 */
export function textsOf(path: string, source: string): Text[] {
  const texts = readers.find(([ending]) => ending.test(path))?.[1](path, source) ?? [];
  const lines = source.split('\n');
  return texts.filter(({ line }) => ![lines[line - 2], lines[line - 1]].some((each) => each?.includes(allowance)));
}

const readers: readonly (readonly [RegExp, (path: string, source: string) => Text[]])[] = [
  [/\.(ts|tsx|js|mjs)$/, scriptTexts],
  [/\.md$/, (_path, source) => markdownTexts(source)],
  [/\.yml$/, (_path, source) => ruleTexts(source)],
  [/\.css$/, (_path, source) => styleTexts(source)],
  [/(\.sh|\.service|Containerfile|\/run)$/, (_path, source) => hashTexts(source)],
];

/** Returns comments, and strings that are sentences. */
function scriptTexts(path: string, source: string): Text[] {
  const lineAt = lineFinder(source);
  const { program, comments } = parseSync(path, source);
  const texts: Text[] = [];
  let last: { end: number; text: string; line: number } | undefined;
  for (const { type, value, start, end } of comments) {
    if (type === 'Block') texts.push(...paragraphs(value, lineAt(start), /^\s*\*+ ?/));
    else if (
      last !== undefined &&
      source.slice(last.end, start).trim() === '' &&
      lineAt(start) === lineAt(last.end) + 1
    ) {
      last.text += `\n${value}`;
      last.end = end;
    } else {
      if (last !== undefined) texts.push(...paragraphs(last.text, last.line, /^ /));
      last = { end, text: value, line: lineAt(start) };
    }
  }
  if (last !== undefined) texts.push(...paragraphs(last.text, last.line, /^ /));
  const isTest = /^(test|bench)\//.test(path);
  const add = (text: string, start: number) => {
    if (/[a-z][,.;:]? \S/i.test(text)) texts.push({ line: lineAt(start), text: text.trim() });
  };
  const literal = (node: { type: string; value?: unknown; start: number } | undefined) => {
    if (node?.type === 'Literal' && typeof node.value === 'string') add(node.value, node.start);
  };
  new Visitor(
    isTest
      ? {
          CallExpression({ callee, arguments: [first] }) {
            if (/^(test|it|describe)\b/.test(source.slice(callee.start, callee.end))) literal(first);
          },
        }
      : {
          Literal: literal,
          TemplateLiteral: ({ quasis, start }) => add(quasis.map(({ value }) => value.raw).join('…'), start),
          JSXText: ({ value, start }) => add(value, start + value.search(/\S|$/)),
        },
  ).visit(program);
  return texts;
}

function markdownTexts(source: string): Text[] {
  const withoutCode = source.replace(/^```[\s\S]*?^```/gm, (code) => code.replace(/[^\n]/g, ''));
  return withoutCode
    .split('\n')
    .reduce<Text[]>((texts, raw, i) => {
      const cells = raw.startsWith('|') ? raw.split('|').filter((cell) => !/^[\s:-]*$/.test(cell)) : [raw];
      const [first = '', ...others] = cells.map((cell) => cell.replace(/^\s*(#+|[-*]|\d+\.|>)\s+/, '').trim());
      const last = texts.at(-1);
      const goesOn = raw.trim() !== '' && !/^\s*([#|>*-]|\d+\.)/.test(raw) && last?.line !== undefined;
      if (goesOn && last!.text !== '') texts[texts.length - 1] = { ...last!, text: `${last!.text} ${first}` };
      else texts.push({ line: i + 1, text: raw.trim() === '' ? '' : first });
      for (const text of others) texts.push({ line: i + 1, text });
      return texts;
    }, [])
    .filter(({ text }) => text !== '');
}

function ruleTexts(source: string): Text[] {
  const texts = hashTexts(source);
  for (const [part, offset] of documentsOf(source)) {
    const rule = parseYaml(part) as Record<string, unknown> | null;
    const line = (name: string) =>
      offset +
      Math.max(
        0,
        part.split('\n').findIndex((each) => each.startsWith(`${name}:`)),
      ) +
      1;
    for (const name of ['title', 'description', 'falsepositives'])
      for (const text of [rule?.[name]].flat()) if (typeof text === 'string') texts.push({ line: line(name), text });
  }
  return texts;
}

/** Returns documents of a YAML stream with the number of lines before each. */
function documentsOf(source: string): [string, number][] {
  let offset = 0;
  return source.split(/^---\n/m).map((part) => {
    const before = offset;
    offset += part.split('\n').length;
    return [part, before];
  });
}

function styleTexts(source: string): Text[] {
  const lineAt = lineFinder(source);
  return [...source.matchAll(/\/\*([\s\S]*?)\*\//g)].flatMap((match) =>
    paragraphs(match[1]!, lineAt(match.index), /^\s*\*? ?/),
  );
}

/** Returns comments that begin with `#`; adjacent comments are joined. */
function hashTexts(source: string): Text[] {
  const texts: Text[] = [];
  let isOpen = false;
  for (const [i, line] of source.split('\n').entries()) {
    const comment = /^\s*#(?!!) ?(.*)/.exec(line)?.[1];
    if (comment === undefined || comment === '') isOpen = false;
    else if (isOpen) texts[texts.length - 1] = { ...texts.at(-1)!, text: `${texts.at(-1)!.text}\n${comment}` };
    else {
      texts.push({ line: i + 1, text: comment });
      isOpen = true;
    }
  }
  return texts;
}

/** Splits a comment at blank lines, list items and tags. Drawings, which are indented or fenced, are omitted. */
function paragraphs(comment: string, line: number, margin: RegExp): Text[] {
  const texts: Text[] = [];
  let isOpen = false;
  let isFenced = false;
  for (const [i, raw] of comment.split('\n').entries()) {
    const text = raw.replace(margin, '').trimEnd();
    if (text.startsWith('```')) isFenced = !isFenced;
    const item = /^\s*(?:[-*]|\d+\.|@(?:param|returns|throws)(?: \{[^}]*\})?(?: [\w.]+)?(?: -)?)\s+(.*)/.exec(
      text,
    )?.[1];
    if (
      text.trim() === '' ||
      isFenced ||
      text.startsWith('```') ||
      (item === undefined && /^ {3}/.test(text) && !isOpen)
    )
      isOpen = false;
    else if (item !== undefined || !isOpen) {
      texts.push({ line: line + i, text: (item ?? text).trim() });
      isOpen = true;
    } else texts[texts.length - 1] = { ...texts.at(-1)!, text: `${texts.at(-1)!.text}\n${text.trim()}` };
  }
  return texts;
}

/** Returns a function that maps offsets into a text to line numbers, from 1. */
function lineFinder(source: string): (offset: number) => number {
  const starts = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
