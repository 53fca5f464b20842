import { useId, useRef } from 'preact/hooks';
import { lineBounds } from './rule-words.ts';
import type { Validation } from './validation.ts';
import './source.css';

/** Rule editor with line numbers and a list of errors. The numbers of lines with errors are highlighted. */
export function Editor({
  value,
  onValue,
  validation,
}: {
  value: string;
  onValue: (value: string) => void;
  validation: Validation;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const about = useId();
  const problems = validation.kind === 'bad' ? validation.problems : [];
  const bad = new Set(problems.map(({ line }) => line));
  const showLine = (line: number) => {
    const shown = area.current;
    if (shown === null) return;
    const [start, end] = lineBounds(value, line);
    shown.focus();
    shown.setSelectionRange(start, end);
  };
  return (
    <>
      <div class="source-editor">
        <div ref={gutter} class="source-gutter" aria-hidden="true">
          {value.split('\n').map((_, index) => (
            <div key={index} class={bad.has(index + 1) ? 'source-gutter-bad' : ''}>
              {index + 1}
            </div>
          ))}
        </div>
        <textarea
          ref={area}
          class="source-area"
          aria-label="Rule (YAML)"
          aria-describedby={about}
          aria-invalid={problems.length > 0}
          spellcheck={false}
          autocapitalize="none"
          autocomplete="off"
          wrap="off"
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
          onScroll={(event) => {
            if (gutter.current !== null) gutter.current.scrollTop = event.currentTarget.scrollTop;
          }}
        />
      </div>
      <div id={about} role="status">
        {validation.kind === 'asking' && <p class="quiet">Checking…</p>}
        {validation.kind === 'unknown' && <p class="quiet">Cannot validate: {validation.reason}</p>}
        {validation.kind === 'good' && <p class="admin-good">✓ Valid</p>}
        {validation.kind === 'several' && (
          <p class="field-error">Found {validation.documents} YAML documents. Add one rule at a time.</p>
        )}
        {problems.length > 0 && (
          <ul class="admin-problems" aria-label="Errors">
            {problems.map(({ line, field, reason }, index) => (
              <li key={index}>
                <button type="button" class="source-problem" onClick={() => showLine(line)}>
                  Line {line}: {field !== '' && <code>{field}</code>} {reason}
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
    </>
  );
}
