import { join } from 'node:path';
import { buildConsole } from '../../../scripts/build-console/build.ts';

const root = new URL('../../..', import.meta.url).pathname;

/** As vitest's global setup: the console as it is now, where the service looks for it. */
export default (): Promise<void> => buildConsole(root, join(root, 'dist', 'console'));
