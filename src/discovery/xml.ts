/** Receives the elements and attributes of a document. Text between elements is ignored. */
interface XmlHandler {
  /** The handler may keep `attributes`. */
  open(name: string, attributes: ReadonlyMap<string, string>): void;
  close(name: string): void;
}

/** The text is not XML in the supported subset. */
export class XmlError extends Error {
  override readonly name = 'XmlError';
}

const maxDepth = 32;
/**
 * Maximum length of a tag with its attributes. The longest tags of nmap have a fingerprint of a few
 * kilobytes.
 */
const maxTagLength = 2 ** 18;
const name = '[A-Za-z_][A-Za-z0-9_.:-]{0,100}';
const attribute = new RegExp(`\\s+(${name})\\s*=\\s*(?:"([^"<]*)"|'([^'<]*)')`, 'y');
const startOfTag = new RegExp(`<(${name})`, 'y');
const endTag = new RegExp(`^</(${name})\\s*>$`);

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/**
 * Parses XML 1.0 incrementally: elements, attributes, comments, CDATA, processing instructions and a document
 * type without internal declarations. Only the five predefined entities and character references are allowed,
 * so nothing is fetched or expanded. Depth and tag length are bounded; the caller must bound the total
 * length.
 */
export class XmlReader {
  readonly #handler: XmlHandler;
  readonly #stack: string[] = [];
  #rest = '';
  #rootSeen = false;

  constructor(handler: XmlHandler) {
    this.#handler = handler;
  }

  /** @throws XmlError */
  push(text: string): void {
    this.#rest += text;
    let position = 0;
    for (;;) {
      const start = this.#rest.indexOf('<', position);
      const between = this.#rest.slice(position, start < 0 ? undefined : start);
      if (this.#stack.length === 0 && /\S/.test(between)) throw new XmlError('text outside the document');
      if (start < 0) {
        position = this.#rest.length;
        break;
      }
      position = start;
      const end = endOfMarkup(this.#rest, start);
      if (end < 0) break;
      this.#markup(this.#rest.slice(start, end));
      position = end;
    }
    this.#rest = this.#rest.slice(position);
    if (this.#rest.length > maxTagLength) throw new XmlError('tag is too long');
  }

  /** @throws XmlError if the document is incomplete. */
  end(): void {
    if (this.#rest !== '' || this.#stack.length > 0 || !this.#rootSeen)
      throw new XmlError('document ends unexpectedly');
  }

  #markup(text: string): void {
    if (text.startsWith('<?') || text.startsWith('<!--')) return;
    if (text.startsWith('<![CDATA[')) {
      if (this.#stack.length === 0) throw new XmlError('text outside the document');
      return;
    }
    if (text.startsWith('<!')) return this.#documentType(text);
    const closing = endTag.exec(text);
    if (closing !== null) return this.#close(closing[1]!);
    this.#element(text);
  }

  #documentType(text: string): void {
    if (this.#rootSeen || !/^<!DOCTYPE\s/.test(text) || text.includes('['))
      throw new XmlError('unsupported declaration');
  }

  #element(text: string): void {
    if (this.#rootSeen && this.#stack.length === 0) throw new XmlError('content after the root element');
    if (this.#stack.length === maxDepth) throw new XmlError('elements are nested too deeply');
    startOfTag.lastIndex = 0;
    const element = startOfTag.exec(text)?.[1];
    if (element === undefined) throw new XmlError('tag without a name');
    const attributes = new Map<string, string>();
    attribute.lastIndex = startOfTag.lastIndex;
    let rest = startOfTag.lastIndex;
    for (let match = attribute.exec(text); match !== null; match = attribute.exec(text)) {
      const [, key = '', double, single = ''] = match;
      if (attributes.has(key)) throw new XmlError('duplicate attribute');
      attributes.set(key, decode(double ?? single));
      rest = attribute.lastIndex;
    }
    const end = /^\s*(\/?)>$/.exec(text.slice(rest));
    if (end === null) throw new XmlError('tag is not well-formed');
    this.#rootSeen = true;
    this.#stack.push(element);
    this.#handler.open(element, attributes);
    if (end[1] === '/') this.#close(element);
  }

  #close(element: string): void {
    if (this.#stack.pop() !== element) throw new XmlError('end tag without start tag');
    this.#handler.close(element);
  }
}

/** Returns the end of the markup that starts at `start`, or -1 if it is incomplete. */
function endOfMarkup(text: string, start: number): number {
  for (const [opening, closing] of delimiters) {
    if (text.startsWith(opening, start)) return after(text, closing, start + opening.length);
    // The text may be the start of this delimiter.
    if (opening.startsWith(text.slice(start))) return -1;
  }
  let quote = '';
  for (let i = start + 1; i < text.length; i++) {
    const char = text[i]!;
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '>') return i + 1;
  }
  return -1;
}

const delimiters = [
  ['<?', '?>'],
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
] as const;

function after(text: string, closing: string, from: number): number {
  const at = text.indexOf(closing, from);
  return at < 0 ? -1 : at + closing.length;
}

function decode(text: string): string {
  return text.replaceAll(/&([^;&]{0,12});?/g, (whole, entity: string) => {
    if (!whole.endsWith(';')) throw new XmlError('invalid reference');
    const known = Object.hasOwn(entities, entity) ? entities[entity] : undefined;
    if (known !== undefined) return known;
    const digits = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(entity);
    if (digits === null) throw new XmlError('undeclared entity');
    const code = digits[1] === undefined ? Number(digits[2]) : Number.parseInt(digits[1], 16);
    if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
      throw new XmlError('reference to an invalid character');
    return String.fromCodePoint(code);
  });
}
