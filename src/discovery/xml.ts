import { SaxesParser } from 'saxes';

/** Receives elements and attributes. Text between elements is skipped. */
interface XmlHandler {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close(name: string): void;
}

/** The text is not XML, or exceeds a limit. */
export class XmlError extends Error {
  override readonly name = 'XmlError';
}

const maxDepth = 32;
/** Characters from one tag to the end of the next; nmap's longest tags carry a fingerprint of some kilobytes. */
const maxTagLength = 2 ** 18;

/**
 * Reads XML piece by piece. A document type must not have declarations of its own, so that the only entities are the
 * five of XML and character references: nothing is fetched or expanded. Depth and the length of a tag are bounded; the
 * caller bounds the length of the document.
 */
export class XmlReader {
  // XML 1.1 allows references to control characters, which nmap writes for such bytes in the answers of hosts.
  readonly #parser = new SaxesParser({ xmlns: false, defaultXMLVersion: '1.1', forceXMLVersion: true });
  #depth = 0;
  #endOfLastTag = 0;

  constructor(handler: XmlHandler) {
    const parser = this.#parser;
    parser.on('error', ({ message }) => {
      throw new XmlError(message);
    });
    parser.on('doctype', (text) => {
      if (text.includes('[')) throw new XmlError('the document type has declarations');
    });
    parser.on('opentag', ({ name, attributes }) => {
      if (++this.#depth > maxDepth) throw new XmlError('elements are nested too deep');
      this.#endOfLastTag = parser.position;
      handler.open(name, attributes);
    });
    parser.on('closetag', ({ name }) => {
      this.#depth--;
      this.#endOfLastTag = parser.position;
      handler.close(name);
    });
  }

  /** @throws XmlError */
  push(text: string): void {
    this.#parser.write(text);
    if (this.#parser.position - this.#endOfLastTag > maxTagLength) throw new XmlError('a tag is too long');
  }

  /** @throws XmlError where the document is incomplete. */
  end(): void {
    this.#parser.close();
  }
}
