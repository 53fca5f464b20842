import type { Severity as SeverityName } from '../../contract/vocabulary.ts';
import './severity.css';

/** Shapes, because colour alone is not accessible. */
const shapes: Readonly<Record<SeverityName, string>> = {
  critical: '◆',
  high: '●',
  medium: '◐',
  low: '○',
  informational: '·',
};
const shortNames: Readonly<Partial<Record<SeverityName, string>>> = { informational: 'Info' };

export function Severity({ level, short = false }: { level: SeverityName; short?: boolean }) {
  const name = level.charAt(0).toUpperCase() + level.slice(1);
  return (
    <span class={`severity severity-${level}`} title={name}>
      <span class="severity-shape" aria-hidden="true">
        {shapes[level]}
      </span>
      {short ? (shortNames[level] ?? name) : name}
    </span>
  );
}

const riskShapes: Readonly<Record<string, SeverityName>> = {
  low: 'low',
  moderate: 'medium',
  high: 'high',
  critical: 'critical',
};

/** A risk level (`low moderate high critical`) and its score, 0 to 100. */
export function Risk({ level, score }: { level: string; score?: number }) {
  const like = riskShapes[level] ?? 'informational';
  return (
    <span class={`severity severity-${like}`}>
      <span class="severity-shape" aria-hidden="true">
        {shapes[like]}
      </span>
      {level.charAt(0).toUpperCase() + level.slice(1)}
      {score !== undefined && <span class="quiet mono"> {score}</span>}
    </span>
  );
}
