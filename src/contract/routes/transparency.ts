import { listed } from '../envelopes.ts';
import {
  consistencyQuery,
  entriesQuery,
  inclusionQuery,
  leafQuery,
  publicPageQuery,
  treeHeadQuery,
  treeHeadsQuery,
} from '../parameters.ts';
import { parameters, text, uuid } from '../resources/fields.ts';
import {
  ConsistencyProof,
  InclusionProof,
  JsonWebKey,
  JsonWebKeySet,
  Leaf,
  ProofBundle,
  SignedTreeHead,
  treeHeadId,
} from '../resources/transparency.ts';
import { bytes, json, list, type RoutesWithout, sharing } from './route.ts';

const entryReaders = ['auditor', 'analyst', 'admin'] as const;
/** Returns the schema of a tile path. The longest valid tile path has 37 characters. */
const tilePath = (description: string) => text(description, { minLength: 1, maxLength: 64 });
const tileParams = parameters({
  tile: tilePath('<L>/<N> for a full tile, <L>/<N>.p/<W> for a partial tile of W hashes; N in groups of three digits.'),
});
const bundleParams = parameters({
  bundle: tilePath('<N> for a full bundle, <N>.p/<W> for a partial bundle of W entries; N in groups of three digits.'),
});

/** The transparency log: tree heads, proofs, entries, tiles and keys. */
export const transparencyRoutes = sharing({ tag: 'transparency', method: 'GET' }, {
  getTreeHead: {
    path: '/api/transparency/sth',
    summary: 'Get a signed tree head',
    access: 'public',
    query: treeHeadQuery,
    responses: { 200: json(SignedTreeHead) },
    errors: ['LOG_EMPTY', 'NOT_FOUND'],
  },
  getInclusionProof: {
    path: '/api/transparency/inclusion',
    summary: 'Get an inclusion proof for a leaf',
    access: 'public',
    query: inclusionQuery,
    responses: { 200: json(InclusionProof) },
    errors: ['NOT_FOUND', 'LOG_EMPTY'],
  },
  getConsistencyProof: {
    path: '/api/transparency/consistency',
    summary: 'Get a consistency proof between two tree sizes',
    access: 'public',
    query: consistencyQuery,
    responses: { 200: json(ConsistencyProof) },
  },
  getLeaf: {
    path: '/api/transparency/leaf',
    summary: 'Get a log entry and its canonical bytes',
    access: entryReaders,
    partlyPublic: true,
    query: leafQuery,
    responses: { 200: json(Leaf) },
    errors: ['NOT_FOUND'],
  },
  listTreeHeads: {
    path: '/api/transparency/sths',
    summary: 'List signed tree heads, oldest first',
    access: 'public',
    query: treeHeadsQuery,
    responses: { 200: list(listed('tree_head', treeHeadId, SignedTreeHead)) },
  },
  listEntries: {
    path: '/api/transparency/entries',
    summary: 'List log entries, oldest first; entries of kinds key.… are public',
    access: entryReaders,
    partlyPublic: true,
    query: entriesQuery,
    responses: { 200: list(listed('log_entry', uuid('Identifier of the entry.'), Leaf)) },
  },
  getProofBundle: {
    path: '/api/transparency/proof',
    summary: 'Get a proof bundle that verifies offline that an entry is in the log',
    access: entryReaders,
    partlyPublic: true,
    query: leafQuery,
    responses: { 200: json(ProofBundle) },
    errors: ['NOT_FOUND', 'LOG_EMPTY'],
  },
  getCheckpoint: {
    path: '/checkpoint',
    summary: 'Get the latest checkpoint, a signed note (C2SP tlog-checkpoint)',
    access: 'public',
    responses: { 200: { kind: 'text', mediaType: 'text/plain; charset=utf-8' } },
    errors: ['LOG_EMPTY'],
  },
  getTile: {
    path: '/tile/:tile*',
    summary: 'Get a tile of tree hashes (C2SP tlog-tiles)',
    access: 'public',
    params: tileParams,
    responses: { 200: bytes },
    errors: ['NOT_FOUND'],
  },
  getEntryBundle: {
    path: '/tile/entries/:bundle*',
    summary: 'Get an entry bundle: canonical bytes of log entries (C2SP tlog-tiles)',
    access: entryReaders,
    mayBePublic: true,
    params: bundleParams,
    responses: { 200: bytes },
    errors: ['NOT_FOUND'],
  },
  listKeyHistory: {
    path: '/api/transparency/key-history',
    summary: 'List log entries about keys (key.rotated, key.retired, key.revoked, log.life_started), oldest first',
    access: 'public',
    query: publicPageQuery,
    responses: { 200: list(listed('log_entry', uuid('Identifier of the entry.'), Leaf)) },
  },
  listPublicKeys: {
    path: '/api/transparency/keys',
    summary: 'List every public key ever used, oldest first',
    access: 'public',
    query: publicPageQuery,
    responses: { 200: list(listed('public_key', uuid('Identifier (kid) of the key.'), JsonWebKey)) },
  },
  getKeySet: {
    path: '/.well-known/jwks.json',
    summary: 'Get the current public keys: active, pending and recently retired',
    access: 'public',
    responses: { 200: json(JsonWebKeySet) },
  },
} as const satisfies RoutesWithout<'tag' | 'method'>);
