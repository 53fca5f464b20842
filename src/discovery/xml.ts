import { SaxesParser } from 'saxes';

/** Receives the elements and attributes of a document. Text between elements is ignored. */
interface XmlHandler {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close(name: string): void;
}

/** Thrown if the text is not XML, or exceeds a limit. */
export class XmlError extends Error {
  override readonly name = 'XmlError';
}

const maxDepth = 32;
/**
 * Maximum number of characters from one tag to the end of the next tag. The longest tags of nmap have a few kilobytes.
 */
const maxTagLength = 2 ** 18;

/**
 * Parses XML incrementally. A document type must not have internal declarations, so that the only entities are
 * the five predefined entities and character references. Nothing is fetched or expanded. Depth and tag length are
 * bounded; the caller must bound the total length.
 */
export class XmlReader {
  // XML 1.1 allows references to control characters. nmap writes such references for control characters in the
  // responses of hosts.
  readonly #parser = new SaxesParser({ xmlns: false, defaultXMLVersion: '1.1', forceXMLVersion: true });
  #depth = 0;
  #endOfLastTag = 0;

  constructor(handler: XmlHandler) {
    const parser = this.#parser;
    parser.on('error', ({ message }) => {
      throw new XmlError(message);
    });
    parser.on('doctype', (text) => {
      if (text.includes('[')) throw new XmlError('the document type has internal declarations, which are not allowed');
    });
    parser.on('opentag', ({ name, attributes }) => {
      if (++this.#depth > maxDepth) throw new XmlError(`elements are nested deeper than ${maxDepth}`);
      this.#endOfLastTag = parser.position;
      handler.open(name, attributes);
    });
    parser.on('closetag', ({ name }) => {
      this.#depth--;
      this.#endOfLastTag = parser.position;
      handler.close(name);
    });
  }

  /** Parses the next part of the text. @throws XmlError */
  push(text: string): void {
    this.#parser.write(text);
    if (this.#parser.position - this.#endOfLastTag > maxTagLength)
      throw new XmlError(`a tag has more than ${maxTagLength} characters`);
  }

  /** Ends the document. @throws XmlError if it is incomplete. */
  end(): void {
    this.#parser.close();
  }
}
