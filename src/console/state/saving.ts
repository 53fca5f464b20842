import { useEffect, useRef, useState } from 'preact/hooks';
import { ServiceError } from '../../errors.ts';
import { type Fetched, saveAs, type Written } from './save.ts';

/** State of a download. */
export interface Saving {
  /** Progress of the download; undefined while no download is running. */
  readonly progress: Written | undefined;
  /** Error of the last download. Cancelling is not an error. */
  readonly error: Error | undefined;
  /**
   * Starts a download. Resolves to the saved amount, or undefined if nothing was saved; never rejects. Only one
   * download runs at a time.
   */
  readonly start: (name: string, fetched: Fetched) => Promise<Written | undefined>;
  readonly cancel: () => void;
}

/** Minimum interval between progress updates, in milliseconds. */
const shownEveryMs = 100;

/** Saves files with progress and a way to cancel. An unfinished download is cancelled on unmount. */
export function useSaving(): Saving {
  const [progress, setProgress] = useState<Written | undefined>();
  const [error, setError] = useState<Error | undefined>();
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  const start = async (name: string, fetched: Fetched): Promise<Written | undefined> => {
    if (running.current !== undefined) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setError(undefined);
    let shownAt = Number.NEGATIVE_INFINITY;
    const onProgress = (written: Written) => {
      const now = performance.now();
      if (now - shownAt < shownEveryMs) return;
      shownAt = now;
      setProgress(written);
    };
    try {
      return await saveAs(name, fetched, { signal, onProgress });
    } catch (failure) {
      if (!signal.aborted) setError(failure instanceof Error ? failure : new ServiceError('INTERNAL', String(failure)));
      return undefined;
    } finally {
      running.current = undefined;
      setProgress(undefined);
    }
  };
  return { progress, error, start, cancel: () => running.current?.abort() };
}
