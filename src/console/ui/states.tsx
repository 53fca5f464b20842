import type { ComponentChildren } from 'preact';
import { ServiceError } from '../../errors.ts';
import { Button } from './button.tsx';
import './states.css';

/** Nothing is there, and why. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children !== undefined && <div class="quiet">{children}</div>}
    </div>
  );
}

const advice: Readonly<Record<string, string>> = {
  UNAVAILABLE: 'The service could not be reached. What it stores is not touched by that.',
  OVERLOADED: 'The service is full at the moment. What it stores is not touched by that.',
  FORBIDDEN: 'Your role may not see this.',
  NOT_FOUND: 'It is not, or no longer, there.',
};

/** What failed, whether anything is at risk, and once more. */
export function Failure({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const code = error instanceof ServiceError ? error.code : undefined;
  return (
    <div class="state state-failure" role="alert">
      <p class="state-title">{(code !== undefined && advice[code]) || 'This could not be shown.'}</p>
      <p class="quiet mono">{code === undefined ? error.message : `${code}: ${error.message}`}</p>
      {onRetry !== undefined && code !== 'FORBIDDEN' && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}

/** Keeps the place of what is on its way. */
export function Loading({ rows = 6 }: { rows?: number }) {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} class={`loading-row loading-row-${row % 3}`} />
      ))}
    </div>
  );
}

/** What was asked for: what `useAnswer` gives. */
export interface Asked<T> {
  readonly data: T | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

/** An answer that is there, on its way, or not to be had. */
export function Answered<T>({
  of: { data, error, refetch },
  rows,
  children,
}: {
  of: Asked<T>;
  rows?: number;
  children: (data: T) => ComponentChildren;
}) {
  if (data !== undefined) return <>{children(data)}</>;
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  return <Loading {...(rows !== undefined && { rows })} />;
}
