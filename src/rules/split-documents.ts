/** One document of a text of YAML. */
export interface DocumentText {
  /** Where it begins in the text, from 1. */
  readonly line: number;
  readonly text: string;
}

/**
 * The documents of a text, apart, so that one that is broken doesn't take those after it along. A line that begins with
 * `---` ends a document wherever it stands (YAML 1.2.2, section 9.1); those of remarks alone are none.
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
    // What stands behind the marker is of the document.
    const isAlone = /^---\s*(#.*)?$/.test(line);
    if (!isAlone) lines[at] = line.replace('---', '   ');
    from = isAlone ? at + 1 : at;
  });
  end(lines.length);
  return documents;
}
