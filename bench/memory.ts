import { type Installation, startInstallation } from "@perch/testkit/installation/installation.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import type pg from "pg";
import { readConfig } from "../packages/server/src/config/config.ts";
import { createLocalEmbedder } from "../packages/server/src/outbound/models/local-embedder.ts";
import { median } from "./load.ts";
import { question, sentence } from "./memory-texts.ts";
import { searchWhileClearing } from "./search-while-clearing.ts";

/** `BENCH_MEMORIES=1000000` measures with a million. */
const sizes = { small: 1000, large: Number(process.env.BENCH_MEMORIES ?? 200_000) };
const embeddedSentences = 2000;
const rounds = 150;
const warmUp = 30;
const recallQueries = 60;

interface Subject {
  readonly perch: Installation;
  readonly headers: Record<string, string>;
  readonly embed: (text: string) => Promise<string>;
}

/**
 * Each memory is a sentence with a unique number. Its vector is the sentence's, moved towards two others, so that distances are
 * like those of real texts without embedding every one.
 */
const insertMemories = `
  insert into memories (organisation_id, agent_id, id, owner, content, metadata, embedder, dimensions, embedding)
  select $1, $2, gen_random_uuid(), '=user' || i % 1000, a.content || ' (REF-' || i || ')', '{}', 'perch/minilm@384', 384,
         l2_normalize(a.v + a.v + b.v + c.v)::halfvec(384)
    from generate_series($3::int, $4::int) i
    join sentences a on a.n = i % ${embeddedSentences}
    join sentences b on b.n = abs(hashint4(i)) % ${embeddedSentences}
    join sentences c on c.n = abs(hashint4(i + 500000000)) % ${embeddedSentences}`;

async function seed(client: pg.Client, embed: Subject["embed"]): Promise<void> {
  await client.query("create table sentences (n int primary key, content text, v vector(384))");
  for (let n = 0; n < embeddedSentences; n++)
    await client.query("insert into sentences values ($1, $2, $3)", [n, sentence(n * 4), await embed(sentence(n * 4))]);
  console.error(`embedded ${embeddedSentences} sentences`);
  await client.query("set synchronous_commit = off");
  await client.query("set maintenance_work_mem = '2GB'");
  // Building the index once is faster than updating it row by row.
  await client.query("drop index memories_384");
  const { rows } = await client.query<{ id: string; organisation_id: string; name: string }>("select * from agents");
  for (const { id, organisation_id, name } of rows) {
    const size = name === "large" ? sizes.large : sizes.small;
    for (let from = 1; from <= size; from += 50_000)
      await client.query(insertMemories, [organisation_id, id, from, Math.min(from + 49_999, size)]);
    console.error(`seeded ${size} memories`);
  }
  await client.query(
    "create index memories_384 on memories using hnsw ((embedding::halfvec(384)) halfvec_cosine_ops) where dimensions = 384",
  );
  await client.query(
    "create table bare as select m.id, m.embedding::vector(384) as embedding from memories m join agents a on a.id = m.agent_id where a.name = 'large'",
  );
  await client.query("create index on bare using hnsw (embedding vector_cosine_ops)");
  console.error("made the indexes");
  await client.query("vacuum analyze memories");
  await client.query("vacuum analyze bare");
}

async function prepare(): Promise<Subject> {
  // A clear runs in a worker, which needs an engine.
  const perch = await startInstallation();
  const key = await perch.createOrganisation("Bench", "enterprise");
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  for (const name of ["small", "large"])
    await fetch(`${perch.url}/v1/agents`, {
      method: "POST",
      headers,
      body: JSON.stringify({ name, model: "perch/echo" }),
    });
  const embedder = createLocalEmbedder(
    readConfig({ ...process.env, PERCH_DATABASE_URL: perch.database.appUrl }).localEmbedderDir,
  );
  const embed = async (text: string) => {
    const [vector] = await embedder.embedFor(
      { organisationId: "bench", isBackground: false },
      [text],
      AbortSignal.timeout(10_000),
    );
    return `[${(vector ?? []).join(",")}]`;
  };
  await withClient(perch.database.adminUrl, (client) => seed(client, embed));
  return { perch, headers, embed };
}

async function search(
  { perch, headers }: Subject,
  agent: string,
  body: object,
): Promise<{ id: string; content: string }[]> {
  const response = await fetch(`${perch.url}/v1/agents/${agent}/memory/search`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return ((await response.json()) as { data: { id: string; content: string }[] }).data;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

const bareQuery = "select id from bare order by embedding <=> $1 limit 10";

/** The share of the ten truly nearest memories that a vector search returns. */
async function recallAt10(subject: Subject, client: pg.Client): Promise<number> {
  let hits = 0;
  for (let n = 0; n < recallQueries; n++) {
    const query = question(n, sizes.large);
    await client.query("begin; set local enable_indexscan = off");
    const { rows } = await client.query<{ content: string }>(
      `select m.content from memories m join agents a on a.id = m.agent_id where a.name = 'large' order by m.embedding <=> $1::halfvec(384) limit 10`,
      [await subject.embed(query)],
    );
    await client.query("commit");
    const nearest = new Set(rows.map(({ content }) => content));
    const found = await search(subject, "large", { query, limit: 10, mode: "vector" });
    hits += found.filter(({ content }) => nearest.has(content)).length;
  }
  return hits / (recallQueries * 10);
}

/** Searches of the small agent while all of the large one is being cleared, against before. */
async function measureClearing(subject: Subject): Promise<Record<string, number>> {
  const { url } = subject.perch;
  let n = 0;
  const searchOtherAgent = () =>
    timed(() => search(subject, "small", { query: question(n++, sizes.small), limit: 10 }));
  const before: number[] = [];
  for (let round = 0; round < rounds; round++) before.push(await searchOtherAgent());
  const { seconds, deleted, answeredMs, times } = await searchWhileClearing(
    { url, headers: subject.headers },
    "large",
    searchOtherAgent,
  );
  console.error(
    `cleared ${deleted} memories in ${seconds.toFixed(1)} s (answered after ${answeredMs.toFixed(0)} ms); ${times.length} searches of the other agent meanwhile: ` +
      `p50 ${median(times).toFixed(2)} ms, longest ${Math.max(...times).toFixed(0)} ms; before p50 ${median(before).toFixed(2)} ms, longest ${Math.max(...before).toFixed(0)} ms`,
  );
  return { search_while_clearing_ratio: Math.round((median(times) / median(before)) * 100) / 100 };
}

/**
 * Search through the API, hybrid, with 1,000 and with many memories of one agent, compared with a plain pgvector query: embed the query with
 * the same embedder and select the ten nearest from a table of vectors only. The measurements alternate.
 */
export async function memory(): Promise<Record<string, number>> {
  const subject = await prepare();
  const result = await withClient(subject.perch.database.adminUrl, async (bare) => {
    // The same search depth as the server's, for the same recall.
    await bare.query("set hnsw.ef_search = 100");
    const times = { small: [] as number[], large: [] as number[], bare: [] as number[], embedding: [] as number[] };
    for (let n = 0; n < rounds + warmUp; n++) {
      const query = question(n, sizes.large);
      const taken = {
        small: await timed(() => search(subject, "small", { query: question(n, sizes.small), limit: 10 })),
        large: await timed(() => search(subject, "large", { query, limit: 10 })),
        bare: await timed(async () => bare.query(bareQuery, [await subject.embed(query)])),
        embedding: await timed(() => subject.embed(query)),
      };
      if (n >= warmUp) for (const [name, ms] of Object.entries(taken)) times[name as keyof typeof times].push(ms);
    }
    const p50 = (name: keyof typeof times) => median(times[name]);
    for (const name of ["small", "large", "bare", "embedding"] as const)
      console.error(`${name.padEnd(10)} p50 ${p50(name).toFixed(2)} ms`);
    const measured = {
      growth_ratio: Math.round((p50("large") / p50("small")) * 100) / 100,
      vs_bare: Math.round((p50("large") / p50("bare")) * 100) / 100,
      recall_at_10: Math.round((await recallAt10(subject, bare)) * 1000) / 1000,
    };
    console.error(JSON.stringify(measured));
    return { ...measured, ...(await measureClearing(subject)) };
  });
  await subject.perch.stop();
  return result;
}
