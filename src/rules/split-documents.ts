/** One document of a YAML text. */
export interface DocumentText {
  /** Line in the text at which the document starts, from 1. */
  readonly line: number;
  readonly text: string;
}

/**
 * Splits a text into documents, so that a broken document does not affect later documents. Every line that
 * begins with `---` ends a document (YAML 1.2.2, section 9.1). Empty documents and documents with only comments are
 * skipped.
 */
export function splitDocuments(text: string): DocumentText[] {
  const lines = text.split('\n');
  const documents: DocumentText[] = [];
  let from = 0;
  const end = (to: number): void => {
    const its = lines.slice(from, to);
    if (its.some((line) => /^\s*[^\s#%.-]/.test(line) || /^\s*-\s*[^\s-]/.test(line)))
      documents.push({ line: from + 1, text: its.join('\n') });
  };
  lines.forEach((line, at) => {
    if (!/^---(\s|$)/.test(line)) return;
    end(at);
    // Text after the marker belongs to the next document.
    const isAlone = /^---\s*(#.*)?$/.test(line);
    if (!isAlone) lines[at] = line.replace('---', '   ');
    from = isAlone ? at + 1 : at;
  });
  end(lines.length);
  return documents;
}
