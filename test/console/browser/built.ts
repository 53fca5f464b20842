import { join } from 'node:path';
import { buildConsole } from '../../../scripts/build-console/build.ts';

const root = new URL('../../..', import.meta.url).pathname;

/** Global setup for vitest: builds the console into the folder that the service serves. */
export default (): Promise<void> => buildConsole(root, join(root, 'dist', 'console'));
