import type { ComponentChildren } from 'preact';
import { ServiceError } from '../../errors.ts';
import { Button } from './button.tsx';
import './states.css';

/** Empty state: what is missing and why. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children !== undefined && <div class="quiet">{children}</div>}
    </div>
  );
}

const advice: Readonly<Record<string, string>> = {
  UNAVAILABLE: 'Cannot reach the service. Stored data is not affected.',
  OVERLOADED: 'The service is overloaded. Stored data is not affected.',
  FORBIDDEN: 'Your role does not allow this.',
  NOT_FOUND: 'Not found. It may have been deleted.',
};

/** Error state: the meaning of the error, its code and message, and a button to retry. */
export function Failure({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const code = error instanceof ServiceError ? error.code : undefined;
  return (
    <div class="state state-failure" role="alert">
      <p class="state-title">{(code !== undefined && advice[code]) || 'Could not load this.'}</p>
      <p class="quiet mono">{code === undefined ? error.message : `${code}: ${error.message}`}</p>
      {onRetry !== undefined && code !== 'FORBIDDEN' && <Button onClick={onRetry}>Retry</Button>}
    </div>
  );
}

/** Placeholder while data is loading. */
export function Loading({ rows = 6 }: { rows?: number }) {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} class={`loading-row loading-row-${row % 3}`} />
      ))}
    </div>
  );
}

/** Result of `useAnswer`. */
export interface Asked<T> {
  readonly data: T | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

/** Shows a result, or its loading or error state. */
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
