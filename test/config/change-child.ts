/** Changes the port in the settings of the given folder, and prints the result. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadSettings } from '../../src/config/load.ts';
import { openStoredSettings } from '../../src/config/stored-settings.ts';
import { ServiceError } from '../../src/errors.ts';

const [, , folder = ''] = process.argv;
const path = join(folder, 'candor.yaml');
const env = { CANDOR_DATA_DIR: folder, CANDOR_CONFIG: path };
const outcome = await openStoredSettings(env, loadSettings(env))
  .change({ port: 9001 })
  .then(
    () => 'stored',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );
console.log(JSON.stringify({ outcome, text: readFileSync(path, 'utf8') }));
