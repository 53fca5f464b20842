import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readFile, UnreadableFile } from '../files/read-file.ts';
import { limits } from '../limits.ts';

/** One document of a file. */
export interface FileDocument extends DocumentText {
  /** Path in the folder, with slashes. */
  readonly file: string;
}

export interface FolderContent {
  /** Documents in the order of file names. */
  readonly documents: readonly FileDocument[];
  /** Descriptions of files and folders that could not be read or exceeded a limit. */
  readonly problems: readonly string[];
}

/**
 * Reads the documents in the `.yml` and `.yaml` files of a folder and its subfolders. Reads only regular files:
 * does not follow links, and cannot block on pipes. Returns undefined if the folder does not exist.
 */
export function readRuleFolder(folder: string): FolderContent | undefined {
  const content = { documents: [] as FileDocument[], problems: [] as string[], files: 0, bytes: 0 };
  const entries = list(folder);
  if (entries === 'missing') return undefined;
  if (typeof entries === 'string') return { documents: [], problems: [`${folder} ${entries}`] };
  readEntries(folder, '', entries, 0, content);
  return { documents: content.documents, problems: content.problems };
}

interface Reading {
  readonly documents: FileDocument[];
  readonly problems: string[];
  files: number;
  bytes: number;
}

function readEntries(root: string, path: string, entries: readonly Dirent[], depth: number, into: Reading): void {
  for (const entry of entries) {
    const its = path === '' ? entry.name : `${path}/${entry.name}`;
    if (entry.name.startsWith('.')) continue;
    if (++into.files > limits.maxRuleFiles) {
      if (into.files === limits.maxRuleFiles + 1)
        into.problems.push(
          `${its} and the files after it by name are left out: there are more than ${limits.maxRuleFiles} files`,
        );
      return;
    }
    if (entry.isDirectory()) {
      const inner =
        depth < limits.maxRuleFolderDepth
          ? list(join(root, its))
          : `is nested deeper than ${limits.maxRuleFolderDepth} folders`;
      if (typeof inner === 'string') into.problems.push(`${its} ${inner}`);
      else readEntries(root, its, inner, depth + 1, into);
    } else if (/\.ya?ml$/i.test(entry.name)) readRules(root, its, entry, into);
  }
}

function readRules(root: string, file: string, entry: Dirent, into: Reading): void {
  if (!entry.isFile()) {
    into.problems.push(`${file} is not a regular file`);
    return;
  }
  try {
    const { bytes } = readFile(join(root, file), limits.maxRuleFileBytes);
    into.bytes += bytes.length;
    if (into.bytes > limits.maxRulesBytes) {
      into.problems.push(`${file} is left out: all files together have more than ${limits.maxRulesBytes} bytes`);
      return;
    }
    const text = new TextDecoder().decode(bytes);
    for (const document of splitDocuments(text)) into.documents.push({ file, ...document });
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    into.problems.push(`${file} is left out: ${error.message}`);
  }
}

function list(folder: string): Dirent[] | string {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? 'missing' : `cannot be read (${code ?? String(error)})`;
  }
}

/** One document of a YAML text. */
interface DocumentText {
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
