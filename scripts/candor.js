#!/usr/bin/env node
// The `candor` command. Plain JavaScript, because any Node from version 20 must be able to run it: it finds the
// runtime that the product is pinned to, and runs the command line there.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The native server has binaries for this major version only, and Node strips types by default since 22.18. */
const wanted = { major: 22, minor: 18 };

/** Returns the runtime that npm installed with the product, else the one that runs this file, if it fits. */
function runtime() {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const binary = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    if (existsSync(binary)) return binary;
  } catch {
    // Not installed: no such package for this system, or optional dependencies were left out.
  }
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major === wanted.major && minor >= wanted.minor ? process.execPath : undefined;
}

/** Returns the sources in a checkout, else the emitted code, because Node does not strip types under node_modules. */
function entry() {
  const emitted = join(root, 'dist', 'src', 'cli', 'main.js');
  const source = join(root, 'src', 'cli', 'main.ts');
  return existsSync(source) ? source : emitted;
}

function fail(message) {
  process.stderr.write(`candor: ${message}\n`);
  process.exit(1);
}

const node = runtime();
if (node === undefined) {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const version = Object.values(optionalDependencies ?? {})[0] ?? `${wanted.major}`;
  fail(
    `needs Node ${wanted.major} (${wanted.major}.${wanted.minor} or later), but this is Node ${process.versions.node} ` +
      `on ${process.platform}-${process.arch}: install Node ${version}, or reinstall candor with optional dependencies`,
  );
}

/**
 * glibc raises its mmap threshold with the sizes of freed blocks, up to 32 MB, and then keeps the memory of freed
 * bodies in its heaps: 130 MB after a flood of large bodies. An explicit threshold does not change. With 64 kB, the
 * columns of a batch leave no holes among small blocks: after some minutes of load the heaps have 85 MB; with 256 kB
 * they have 150 MB, more than half of it free. The setting costs 70 page faults per body of 2,000 events, a 400th of
 * its time. It is read only at the start of a process; other C libraries ignore it. (Two heaps for all threads cost 6 %
 * of the events per second.)
 */
const env = { MALLOC_MMAP_THRESHOLD_: String(64 * 1024), ...process.env };
/**
 * Few objects of the service's main thread outlive a request. With the default of 16 MB, its heap takes 28 MB more. The
 * service resets the option for its other threads.
 */
const youngGeneration = process.argv[2] === 'start' ? ['--max-semi-space-size=4'] : [];
const flags = [...youngGeneration, '--disable-warning=ExperimentalWarning'];
const child = spawn(node, [...flags, entry(), ...process.argv.slice(2)], {
  stdio: 'inherit',
  env,
});
child.on('error', (error) => fail(`${node} cannot be started: ${error.message}`));

// Forwards signals to the service. The terminal sends Ctrl-C and Ctrl-\ to both processes; the launcher then only
// waits.
for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']) {
  const typed = signal === 'SIGINT' || signal === 'SIGQUIT';
  process.on(signal, () => {
    if (!(typed && process.stdin.isTTY)) child.kill(signal);
  });
}

child.on('exit', (code, signal) => {
  process.exit(signal === null ? (code ?? 1) : 128 + (constants.signals[signal] ?? 0));
});
