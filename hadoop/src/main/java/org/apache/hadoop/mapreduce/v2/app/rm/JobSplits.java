package org.apache.hadoop.mapreduce.v2.app.rm;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.TypeConverter;
import org.apache.hadoop.mapreduce.lib.input.CombineFileSplit;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.split.JobSplit.TaskSplitMetaInfo;
import org.apache.hadoop.mapreduce.split.SplitMetaInfoReader;
import org.apache.hadoop.mapreduce.v2.util.MRApps;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import trunkline.hadoop.JobLayout.Part;
import trunkline.hadoop.JobLayout.Split;

/** The splits of a job as its client left them in the staging folder, in the order of its maps. */
final class JobSplits {
    private JobSplits() {}

    static List<Split> read(Configuration conf, ApplicationId id) throws IOException {
        FileSystem files = FileSystem.get(conf);
        String user = UserGroupInformation.getCurrentUser().getShortUserName();
        org.apache.hadoop.mapreduce.JobID job = TypeConverter.fromYarn(id);
        Path folder = files.makeQualified(new Path(MRApps.getStagingAreaDir(conf, user), job.toString()));
        List<Split> splits = new ArrayList<>();
        FSDataInputStream in = null;
        String location = null;
        try {
            for (TaskSplitMetaInfo meta : SplitMetaInfoReader.readSplitMetaInfo(job, files, conf, folder)) {
                if (in == null || !meta.getSplitLocation().equals(location)) {
                    if (in != null) {
                        in.close();
                    }
                    location = meta.getSplitLocation();
                    in = files.open(new Path(location));
                }
                in.seek(meta.getStartOffset());
                splits.add(new Split(parts(in, meta.getInputDataLength()), Arrays.asList(meta.getLocations())));
            }
        } finally {
            if (in != null) {
                in.close();
            }
        }
        return splits;
    }

    /** The parts of files that a split is; its class in place of a file's name if it is none. */
    private static List<Part> parts(FSDataInputStream in, long length) throws IOException {
        String type = Text.readString(in);
        if (type.equals(CombineFileSplit.class.getName())) {
            CombineFileSplit split = new CombineFileSplit();
            split.readFields(in);
            List<Part> parts = new ArrayList<>();
            for (int part = 0; part < split.getNumPaths(); part++) {
                parts.add(new Part(split.getPath(part).getName(), split.getLength(part)));
            }
            return parts;
        }
        if (!type.equals(FileSplit.class.getName())
                && !type.equals(org.apache.hadoop.mapred.FileSplit.class.getName())) {
            return List.of(new Part(type, length));
        }
        // Both classes write the same fields.
        FileSplit split = new FileSplit();
        split.readFields(in);
        return List.of(new Part(split.getPath().getName(), length));
    }
}
