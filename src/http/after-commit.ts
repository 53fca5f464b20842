import type { Services } from './services.ts';

/**
 * What follows a commit (telling subscribers and the outbox pump) cannot undo it, so a bug in there must not turn the
 * answer into an error: the client would send again what is stored. It is logged.
 */
export function afterCommit({ log }: Pick<Services, 'log'>, work: () => void): void {
  try {
    work();
  } catch (error) {
    log.error({ err: error }, 'a committed change could not be announced');
  }
}
