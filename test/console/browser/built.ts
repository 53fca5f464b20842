import { join } from 'node:path';
import { buildConsole } from '../../../scripts/build-console/build.ts';

const root = new URL('../../..', import.meta.url).pathname;

/** Builds the console into the folder that the service serves, as global setup for vitest. */
export default (): Promise<void> => buildConsole(root, join(root, 'dist', 'console'));
