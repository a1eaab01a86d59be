import {useState} from 'preact/hooks';
import {offeredSamples} from '../embedded';
import {useMessages} from '../i18n';
import {copy} from '../clipboard';
import {pickFiles, pickFolder} from './Header';
import {memo} from './memo';
import {SelfTest} from './SelfTest';
import {openSample} from '../session';

const TORCH = `from torch_npu import profiler

save = profiler.tensorboard_trace_handler("./capture")
with profiler.profile(
    activities=[profiler.ProfilerActivity.CPU,
                profiler.ProfilerActivity.NPU],
    schedule=profiler.schedule(wait=1, warmup=1, active=2),
    profile_memory=True,
    with_stack=True,
    on_trace_ready=save,
) as prof:
    for batch in loader:
        train_step(batch)
        prof.step()`;

const VERL = `global_profiler:
  tool: npu
  steps: [2]
  save_path: ./capture
actor_rollout_ref:
  actor:
    profiler:
      enable: True
      all_ranks: True
      tool_config:
        npu:
          discrete: True
          contents: [npu, cpu, memory, stack]
          analysis: True`;

const JAX = `import jax

options = jax.profiler.ProfileOptions()
options.host_tracer_level = 2
with jax.profiler.trace("./capture", profiler_options=options):
    for batch in loader:
        state = train_step(state, batch)
    jax.block_until_ready(state)`;

/** The first visit: what it reads, how to make such a capture, that nothing is uploaded, and a sample. */
export const Start = memo(function Start() {
  const t = useMessages();
  return (
    <main class="start">
      <h2>{t.startTitle}</h2>
      <ul class="start-facts">
        <li>{t.startReads}</li>
        <li>{t.startReadsJax}</li>
        <li>{t.startShows}</li>
        <li>{t.startPrivate}</li>
      </ul>
      <p class="start-drop">{t.startDrop}</p>
      <div class="start-acts">
        {pickFolder !== null && <button type="button" class="main" onClick={pickFolder}>{t.startOpenFolder}</button>}
        <button type="button" onClick={pickFiles}>{t.startOpenFiles}</button>
        {offeredSamples().map(name => (
          <button key={name} type="button" data-test={`sample-${name}`} onClick={() => void openSample(name)}>
            {t.startSample(t.sampleNames[name] ?? name)}
          </button>
        ))}
      </div>
      {pickFolder !== null && <p class="muted start-question">{t.folderQuestion}</p>}
      <h3>{t.startHow}</h3>
      <div class="recipes">
        <Recipe title={t.startTorch} text={TORCH} />
        <Recipe title={t.startVerl} text={VERL} />
        <Recipe title={t.startJax} text={JAX} />
      </div>
      <SelfTest />
    </main>
  );
});

function Recipe({title, text}: {title: string; text: string}) {
  const t = useMessages();
  const [copied, setCopied] = useState<boolean | null>(null);
  const label = copied === null ? t.copy : copied ? t.copied : t.copyFailed;
  return (
    <section class="recipe">
      <h4>{title}</h4>
      <button type="button" class="quiet" onClick={() => void copy(text).then(setCopied)} onBlur={() => setCopied(null)}>{label}</button>
      <pre tabIndex={0}>{text}</pre>
    </section>
  );
}
