import './source.css';

/** Shows a document with line numbers. */
export function Source({ text, first = 1 }: { text: string; first?: number }) {
  return (
    <pre class="source" tabIndex={0} aria-label="Source">
      {text
        .replace(/\n$/, '')
        .split('\n')
        .map((line, index) => (
          <span key={index} class="source-line">
            <span class="source-number" aria-hidden="true">
              {first + index}
            </span>
            <span class="source-text">{line || ' '}</span>
          </span>
        ))}
    </pre>
  );
}
